// Tests a recording of two windows in real engine processes, with two threads and with one. With two threads, both
// windows are encoded at the same time.

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { prepareModel } from '../../src/engine/models/choose.ts'
import { Worker } from '../../src/engine/worker.ts'
import type { Transcript } from '../../src/transcripts/transcript.ts'
import { defaults } from '../support/defaults.ts'
import { clips, firstOf, unless } from '../support/engine-room.ts'
import { temporaryFolder } from '../support/folder.ts'
import { plainInput } from '../support/plain-input.ts'
import { readSound } from '../support/read-sound.ts'
import { wavFile } from '../support/sound.ts'

const model = firstOf('models/whisper-base/compact.safetensors')
const missing = !model || !clips || process.platform !== 'linux'
const [program, counter] = ['../../src/main.ts', '../support/count-run-two.ts'].map(path =>
  fileURLToPath(new URL(path, import.meta.url)),
) as [string, string]

/** Writes two clips with a pause of 11 s between them. A pause of 10 s or more ends a window. Returns the path. */
async function writeSound(): Promise<string> {
  const folder = clips ?? ''
  const [one, other] = await Promise.all(
    ['doctor.flac', 'en-unseen-linda.flac'].map(name => readSound(join(folder, name))),
  )
  if (!one || !other) throw new Error('there are two clips')
  const pause = 11 * 16_000
  const sound = new Float32Array(one.length + pause + other.length)
  sound.set(one)
  sound.set(other, one.length + pause)
  const path = join(temporaryFolder(), 'sound.wav')
  await Bun.write(path, wavFile(Int16Array.from(sound, value => Math.round(value * 32_767))))
  return path
}

/** `runsOfTwo` is the number of times that the engine process ran a model twice at the same time. */
async function transcribe(
  path: string,
  threads: number,
): Promise<{ transcript: Transcript; runsOfTwo: number }> {
  const dataDir = temporaryFolder()
  const counts = join(temporaryFolder(), 'counts')
  const settings = { ...defaults, model: 'base', device: 'cpu' as const, dataDir, threads }
  const command = [process.execPath, '--preload', counter, program, 'engine', counts]
  const worker = new Worker(await prepareModel(settings, () => {}), settings, { dataDir, command })
  try {
    await worker.load()
    const { signal } = new AbortController()
    const transcript = await worker.run(plainInput({ path, durationMs: 60_000 }), {
      signal,
      onSeconds: () => {},
    })
    return { transcript, runsOfTwo: (await Bun.file(counts).text()).split('\n').length - 1 }
  } finally {
    await worker.kill()
  }
}

/** Returns the transcript without its confidences, whose last digits depend on the number of threads. */
function textAndTimes({ utterances, ...transcript }: Transcript) {
  return {
    ...transcript,
    utterances: utterances.map(utterance => ({
      ...utterance,
      confidence: null,
      words: utterance.words.map(word => ({ ...word, confidence: null })),
    })),
  }
}

test.skipIf(missing)(
  `two windows are encoded at the same time with two threads, and have the text and times of one thread${unless(model && clips, 'built-in model with clips')}`,
  async () => {
    const path = await writeSound()
    const [two, one] = [await transcribe(path, 2), await transcribe(path, 1)]
    expect([two.runsOfTwo, one.runsOfTwo]).toEqual([1, 0])
    expect(textAndTimes(two.transcript)).toEqual(textAndTimes(one.transcript))
    expect(two.transcript.full_transcript).toMatch(
      /^If it is cloudy.* stay at home\. I was on the table.* the deadline\? The plan cost/s,
    )
  },
  120_000,
)
