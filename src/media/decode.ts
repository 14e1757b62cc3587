// Decodes a media file to mono samples at 16 kHz. The decoder waits for a slow caller (backpressure).

import { log } from '../base/log.ts'
import { JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import { runChild, type SpawnOptions } from './run-child.ts'
import { type DecodeResult, sampleRate, samplesMax } from './wire.ts'

export type DecodeOptions = SpawnOptions & {
  /** The number of the channel to decode, counted from 1. If it is missing, the mix of all channels is decoded. */
  channel?: number | undefined
  /** The duration that the inspection measured. If it is missing, the length of the decoded sound is not checked. */
  measuredMs?: number | undefined
}

/**
 * Yields the samples of the media file. Throws a JobFailure if the file cannot be decoded, or has too much sound.
 * Throws the reason of the signal if it is aborted. The child process is killed if the caller stops early.
 */
export async function* decode(path: string, options: DecodeOptions): AsyncGenerator<Float32Array, void> {
  const { channel = 0, durationMsMax, measuredMs } = options
  const child = runChild({ operation: 'decode', channel }, path, options)
  let samples = 0
  let next = await child.next()
  try {
    for (; !next.done; next = await child.next()) {
      samples += next.value.length / Float32Array.BYTES_PER_ELEMENT
      if (samples > samplesMax(durationMsMax)) {
        log.warn('media child failed', { operation: 'decode', cause: 'too many samples' })
        throw new JobFailure('PROCESSING_ERROR')
      }
      if (differenceMs(samples, measuredMs) > 0) throw tooMuchSound()
      // The bytes are copied, because a Float32Array must begin at a multiple of four bytes of its buffer.
      yield new Float32Array(next.value.slice().buffer)
    }
  } finally {
    await child.return(undefined)
  }
  const { damaged } = next.value as DecodeResult
  if (damaged > 0) log.info('media damaged', { packets: damaged })
  if (differenceMs(samples, measuredMs) < 0)
    log.warn('media shorter than measured', { decoded_ms: msOf(samples), measured_ms: measuredMs })
}

/**
 * Returns by how many milliseconds the decoded sound is longer than `measuredMs`. The result is negative for shorter
 * sound, and 0 within the tolerance.
 */
function differenceMs(samples: number, measuredMs = msOf(samples)): number {
  const tolerance = limits.mediaToleranceMs + limits.mediaToleranceShare * measuredMs
  const difference = msOf(samples) - measuredMs
  return Math.abs(difference) > tolerance ? difference : 0
}

function msOf(samples: number): number {
  return Math.floor((samples / sampleRate) * 1000)
}

/**
 * Returns the error for a file with much more decoded sound than the duration that was measured before the decoding.
 * Wrong timestamps in the file are the only cause.
 */
function tooMuchSound(): JobFailure {
  const message = 'The times in the file are wrong: it has much more sound than they say.'
  return new JobFailure('INVALID_MEDIA_FORMAT', message)
}
