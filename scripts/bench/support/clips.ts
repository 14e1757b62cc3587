// Makes sound for the benchmarks from the recordings in test/fixtures/speech.

import { join } from 'node:path'
import { decode } from '../../../src/media/decode.ts'
import { composeSpeech } from '../../../test/support/compose-speech.ts'
import { clips } from '../../../test/support/engine-room.ts'
import type { Truth } from '../../../test/support/words.ts'

export type LongClip = { truth: Truth; wav: string; samples: Float32Array }

/**
 * Writes ten minutes of speech into the folder, and returns the sound with its reference text. Returns null if the
 * recordings for this sound are missing.
 */
export async function longestClip(folder: string): Promise<LongClip | null> {
  const recipe = join(clips ?? '', 'monologue.recipe.json')
  if (!clips || !(await Bun.file(recipe).exists())) return null
  const wav = join(folder, 'monologue.wav')
  const truth = (await composeSpeech(recipe, wav)) as Truth
  const headerBytes = 44
  const integers = new Int16Array((await Bun.file(wav).arrayBuffer()).slice(headerBytes))
  return { truth, wav, samples: Float32Array.from(integers, value => value / 32_768) }
}

/** Returns 10.6 s of sound in which two speakers talk alternately. */
export async function twoVoices(folder: string): Promise<Float32Array> {
  const parts: Float32Array[] = []
  const options = { signal: new AbortController().signal, durationMsMax: 36_000_000 }
  for await (const part of decode(join(folder, 'en-two-voices.flac'), options)) parts.push(part)
  return Float32Array.from(parts.flatMap(part => [...part]))
}
