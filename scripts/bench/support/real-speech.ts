// Real speech with a known text: 50 utterances of LibriSpeech test-other. They are written as one file for each
// utterance, and as one file with digital silence (samples of 0) between the utterances.

import { basename, join } from 'node:path'
import { decode } from '../../../src/media/decode.ts'
import { firstOf } from '../../../test/support/engine-room.ts'
import { seeded } from '../../../test/support/random.ts'
import { wavFile } from '../../../test/support/sound.ts'
import { type Pause, pausesOf } from './pauses.ts'

/**
 * A sound file with its reference text. `utterances` has the start and the end of each utterance in seconds. Between
 * two utterances is digital silence. `pauses` has the pauses of the voice, inside and between the utterances.
 */
export type Sound = {
  path: string
  text: string
  utterances: { from: number; to: number }[]
  pauses: Pause[]
}
export type SoundSet = { name: string; seconds: number; sounds: Sound[] }

type Utterance = { id: string; text: string; samples: Int16Array }

const rate = 16_000
const pauseSeconds = { min: 0.4, max: 1.6 }
const seed = 4

/**
 * Writes the utterances of LibriSpeech as WAV files into `folder`. The first set has one file of all utterances. For
 * each number in `leads`, there is another set, with one file for each utterance. Such a file begins with this number
 * of seconds of digital silence. Returns null if the utterances are missing.
 */
export async function realSpeech(folder: string, leads: readonly number[] = [0]): Promise<SoundSet[] | null> {
  const from = firstOf('../shared/audio/librispeech-test-other')
  if (!from) return null
  const utterances = await readUtterances(from)
  const sets = [setOf('joined', [await writeJoined(join(folder, 'joined.wav'), utterances)])]
  for (const lead of leads) {
    const single: Sound[] = []
    for (const utterance of utterances)
      single.push(await writeJoined(join(folder, `${lead}/${utterance.id}.wav`), [utterance], lead))
    sets.push(setOf(lead === 0 ? 'one by one' : `one by one, ${lead} s of silence before`, single))
  }
  return sets
}

function setOf(name: string, sounds: Sound[]): SoundSet {
  return {
    name,
    seconds: sounds.reduce((sum, { utterances }) => sum + (utterances.at(-1)?.to ?? 0), 0),
    sounds,
  }
}

async function readUtterances(folder: string): Promise<Utterance[]> {
  const lines = (await Bun.file(join(folder, 'all.trans.txt')).text()).trim().split('\n')
  const texts = new Map(
    lines.map(line => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
  )
  const paths = [...new Bun.Glob('*/*.flac').scanSync(folder)].toSorted()
  const utterances: Utterance[] = []
  for (const path of paths) {
    const id = basename(path, '.flac')
    const text = texts.get(id)
    if (text === undefined) throw new Error(`all.trans.txt has no text of ${path}`)
    utterances.push({ id, text, samples: await readSamples(join(folder, path)) })
  }
  return utterances
}

async function readSamples(path: string): Promise<Int16Array> {
  const parts: number[] = []
  const options = { signal: new AbortController().signal, durationMsMax: 600_000 }
  for await (const part of decode(path, options))
    for (const value of part) parts.push(Math.max(-32_768, Math.min(32_767, Math.round(value * 32_768))))
  return Int16Array.from(parts)
}

async function writeJoined(path: string, utterances: Utterance[], lead = 0): Promise<Sound> {
  const random = seeded(seed)
  const parts: Int16Array[] = []
  const spans: Sound['utterances'] = []
  let at = 0
  const add = (samples: Int16Array) => {
    parts.push(samples)
    at += samples.length
  }
  for (const { samples } of utterances) {
    const { min, max } = pauseSeconds
    const seconds = spans.length === 0 ? lead : min + random.next() * (max - min)
    add(new Int16Array(Math.round(seconds * rate)))
    spans.push({ from: at / rate, to: (at + samples.length) / rate })
    add(samples)
  }
  const sound = new Int16Array(at)
  parts.reduce((offset, part) => {
    sound.set(part, offset)
    return offset + part.length
  }, 0)
  await Bun.write(path, wavFile(sound))
  const pauses = pausesOf(
    utterances.map(({ samples }, index) => ({ samples, from: spans[index]?.from ?? 0 })),
  )
  return { path, text: utterances.map(each => each.text).join(' '), utterances: spans, pauses }
}
