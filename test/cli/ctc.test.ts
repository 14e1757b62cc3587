import { beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { faultOf } from '../../src/engine/models/fault.ts'
import { firstOf, clips as speech, unless } from '../support/engine-room.ts'
import { temporaryFolder } from '../support/folder.ts'
import { steno } from '../support/program.ts'
import { compareWords } from '../support/words.ts'

type Word = { word: string; start: number; end: number }

/** The small model must recognise at least this share of the words. */
const rightShareMin = 0.7
/**
 * The largest allowed error of a word's start, in seconds. The scores of a frame (20 ms) depend on 0.33 s of sound
 * before and after the frame. So the model may write a letter early or late.
 */
const startSecondsMax = 0.5

const model = firstOf('models/pocket/ctc-pocket')
const clips = firstOf('test/fixtures/ctc')
const missing = !model || !clips || !speech
const skipped = unless(missing ? null : model, 'pocket CTC model with the clips')

const soundless = ['silence', 'noise', 'tones']
const out = temporaryFolder()

const transcriptOf = (name: string) => Bun.file(join(out, `${name}.json`)).json()

// The tests share one run of the command, because each run starts its own engine.
beforeAll(async () => {
  if (!model || !clips || !speech) return
  const files = [join(clips, 'unseen.flac')]
  for (const name of soundless) files.push(join(speech, `${name}.${name === 'silence' ? 'flac' : 'opus'}`))
  const { code } = await steno(
    ['transcribe', ...files, '--language', 'en', '--format', 'json', '--out', out],
    { STENO_MODEL: model, STENO_DATA_DIR: temporaryFolder() },
  )
  expect(code).toBe(0)
}, 60_000)

test.skipIf(missing)(
  `a CTC model writes most words of sentences that its training did not contain, with their times${skipped}`,
  async () => {
    expect(faultOf(model ?? '')).toBeNull()
    const reference: { words: Word[] } = await Bun.file(join(clips ?? '', 'unseen.json')).json()
    const { model: name, utterances } = await transcriptOf('unseen')
    const heard: Word[] = utterances.flatMap((utterance: { words: Word[] }) => utterance.words)
    expect(name).toBe('ctc-pocket')
    const words = (list: readonly Word[]) => list.map(({ word }) => word)
    const { pairs } = compareWords(words(reference.words), words(heard))
    expect(pairs.length / reference.words.length).toBeGreaterThanOrEqual(rightShareMin)
    for (const [right, own] of pairs) {
      const apart = Math.abs((heard[own]?.start ?? 0) - (reference.words[right]?.start ?? 0))
      expect([heard[own]?.word, apart < startSecondsMax]).toEqual([heard[own]?.word, true])
    }
  },
)

test.skipIf(missing).each(soundless)(`a CTC model writes nothing for %s${skipped}`, async name => {
  expect((await transcriptOf(name)).utterances).toEqual([])
})
