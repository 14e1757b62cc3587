// Decodes a media file to 16 kHz mono samples. The decoder waits while the caller has not consumed the samples
// (backpressure).

import { log } from '../base/log.ts'
import { JobFailure } from '../errors.ts'
import { runChild, type SpawnOptions } from './spawn.ts'
import { type DecodeResult, samplesMax } from './wire.ts'

export type DecodeOptions = SpawnOptions & {
  /** The number of the channel to decode, counted from 1. The default is the mix of all channels. */
  channel?: number
  /**
   * Called at the end of the file if packets were damaged. `packets` is their number. Silence replaces the sound of a
   * damaged packet.
   */
  onDamage?: (packets: number) => void
}

/**
 * Yields the samples of the file. Throws a JobFailure if decoding fails. If the caller stops reading early, the child
 * process is ended.
 */
export async function* decode(path: string, options: DecodeOptions): AsyncGenerator<Float32Array, void> {
  const child = runChild({ operation: 'decode', channel: options.channel ?? 0 }, path, options)
  let left = samplesMax(options.durationMsMax)
  let next = await child.next()
  try {
    for (; !next.done; next = await child.next()) {
      left -= next.value.length / Float32Array.BYTES_PER_ELEMENT
      if (left < 0) throw new JobFailure('PROCESSING_ERROR')
      // The bytes are copied, because the data of a Float32Array must begin at a multiple of four bytes.
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
