// The samples of a media file: 16 kHz, mono, decoded no faster than they are read.

import { log } from '../base/log.ts'
import { JobFailure } from '../errors.ts'
import { runChild, type SpawnOptions } from './spawn.ts'
import { type DecodeResult, samplesMax } from './wire.ts'

export type DecodeOptions = SpawnOptions & {
  /** Called at the end with the number of damaged packets, which became silence. */
  onDamage?: (packets: number) => void
}

/** Throws a JobFailure when decoding fails. Leaving the loop early ends the child. */
export async function* decode(path: string, options: DecodeOptions): AsyncGenerator<Float32Array, void> {
  const child = runChild('decode', path, options)
  let left = samplesMax(options.durationMsMax)
  let next = await child.next()
  try {
    for (; !next.done; next = await child.next()) {
      left -= next.value.length / Float32Array.BYTES_PER_ELEMENT
      if (left < 0) throw new JobFailure('PROCESSING_ERROR')
      // A copy, because the bytes in the chunk of the pipe may not be aligned.
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
