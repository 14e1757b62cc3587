// Reads the sound of a media file.

import { decode } from '../../../src/media/decode.ts'

/** Returns all samples of a media file at 16 kHz. */
export async function readSound(path: string): Promise<Float32Array> {
  const parts: Float32Array[] = []
  const options = { signal: new AbortController().signal, durationMsMax: 36_000_000 }
  for await (const part of decode(path, options)) parts.push(part)
  const samples = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0))
  parts.reduce((at, part) => {
    samples.set(part, at)
    return at + part.length
  }, 0)
  return samples
}
