// Decodes a media file to mono samples at 16 kHz. If the caller takes the decoded samples slowly, the decoder waits for
// the caller (backpressure).

import { log } from '../base/log.ts'
import { JobFailure } from '../errors.ts'
import { runChild, type SpawnOptions } from './run-child.ts'
import { type DecodeResult, samplesMax } from './wire.ts'

export type DecodeOptions = SpawnOptions & {
  /** The number of the channel to decode, counted from 1. If it is missing, the mix of all channels is decoded. */
  channel?: number
}

/**
 * Yields the samples of the media file. Throws a JobFailure if the file cannot be decoded. If the caller stops reading
 * before the end, the child process that decodes the file is killed.
 */
export async function* decode(path: string, options: DecodeOptions): AsyncGenerator<Float32Array, void> {
  const child = runChild({ operation: 'decode', channel: options.channel ?? 0 }, path, options)
  let left = samplesMax(options.durationMsMax)
  let next = await child.next()
  try {
    for (; !next.done; next = await child.next()) {
      left -= next.value.length / Float32Array.BYTES_PER_ELEMENT
      if (left < 0) throw new JobFailure('PROCESSING_ERROR')
      // The bytes are copied to the start of a new buffer, because a Float32Array must begin at a multiple of four
      // bytes.
      yield new Float32Array(next.value.slice().buffer)
    }
  } finally {
    await child.return(undefined)
  }
  const { damaged } = next.value as DecodeResult
  if (damaged > 0) log.info('media damaged', { packets: damaged })
}
