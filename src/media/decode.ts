// The samples of a media file for whoever listens: 16 kHz, mono, as they come, no faster than they are taken.

import { log } from '../base/log.ts'
import { JobFailure } from '../errors.ts'
import { runChild, type SpawnOptions } from './spawn.ts'
import { type Decoded, samplesMax } from './wire.ts'

export type DecodeOptions = SpawnOptions & {
  /** Called at the end with the number of packets that were damaged and became silence. */
  onDamage?: (packets: number) => void
}

/** Fails with a JobFailure when the file ends otherwise than well; leaving the loop early ends the child. */
export async function* decode(path: string, options: DecodeOptions): AsyncGenerator<Float32Array, void> {
  const child = runChild('decode', path, options)
  let left = samplesMax(options.durationMsMax)
  let next = await child.next()
  try {
    for (; !next.done; next = await child.next()) {
      left -= next.value.length / Float32Array.BYTES_PER_ELEMENT
      if (left < 0) throw new JobFailure('PROCESSING_ERROR')
      // Into memory of its own: the bytes may lie askew in what the pipe gave.
      yield new Float32Array(next.value.slice().buffer)
    }
  } finally {
    await child.return(undefined)
  }
  const { damaged } = next.value as Decoded
  if (!(damaged > 0)) return
  log.info('media.damaged', { packets: damaged })
  options.onDamage?.(damaged)
}
