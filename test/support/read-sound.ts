// Reads the sound of a media file.

import { joinFloats } from '../../src/base/join-floats.ts'
import { decode } from '../../src/media/decode.ts'

/** Returns all samples of a media file at 16 kHz. */
export async function readSound(path: string): Promise<Float32Array> {
  const options = { signal: new AbortController().signal, durationMsMax: 36_000_000 }
  return joinFloats(await Array.fromAsync(decode(path, options)))
}
