// A server whose engine never ends a job. The engine first sends many utterances together, and then single utterances
// at regular intervals. The text of a single utterance begins with the time of its sending.

import { readConfig } from '../../../src/config.ts'
import { startService } from '../../../src/service.ts'
import type { Utterance } from '../../../src/transcripts/transcript.ts'
import { steeredEngine } from '../../../test/support/engine.ts'
import { statedMedia } from '../../../test/support/media.ts'

const [first = 0, everyMs = 1000] = process.argv.slice(2).map(Number)

function utterance(text: string): Utterance {
  return { start: 0, end: 1, text: text.padEnd(1000, ' word'), speaker: null, confidence: 0.9, words: [] }
}

const { listening } = await startService(readConfig(process.env), {
  media: statedMedia,
  engine: {
    ...steeredEngine(),
    transcribe: (_, { onUtterances }) => {
      onUtterances?.(
        Array.from({ length: first }, () => utterance('')),
        0,
        'en',
      )
      let given = first
      setInterval(() => {
        onUtterances?.([utterance(`${performance.timeOrigin + performance.now()}`)], given, 'en')
        given += 1
      }, everyMs)
      return new Promise(() => {})
    },
  },
})
console.log(listening)
