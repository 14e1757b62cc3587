// Decodes a media file to 16 kHz mono samples. Backpressure: it decodes no faster than the samples are consumed.

import { log } from '../base/log.ts'
import { JobFailure } from '../errors.ts'
import { runChild, type SpawnOptions } from './spawn.ts'
import { type DecodeResult, samplesMax } from './wire.ts'

export type DecodeOptions = SpawnOptions & {
  /** Called at the end with the number of damaged packets. They were replaced by silence. */
  onDamage?: (packets: number) => void
}

/** Throws a JobFailure when decoding fails. A caller that leaves the loop early ends the child. */
export async function* decode(path: string, options: DecodeOptions): AsyncGenerator<Float32Array, void> {
  const child = runChild('decode', path, options)
  let left = samplesMax(options.durationMsMax)
  let next = await child.next()
  try {
    for (; !next.done; next = await child.next()) {
      left -= next.value.length / Float32Array.BYTES_PER_ELEMENT
      if (left < 0) throw new JobFailure('PROCESSING_ERROR')
      // Copied, because the bytes in the chunk may not be aligned to four.
      yield new Float32Array(next.value.slice().buffer)
    }
  } finally {
    await child.return(undefined)
  }
  const { damaged } = next.value as DecodeResult
  if (!(damaged > 0)) return
  log.info('media damaged', { packets: damaged })
  options.onDamage?.(damaged)
}
