// Finds the media program (native/media), the only part of steno that contains FFmpeg. The LGPL licence of FFmpeg says
// that users must be able to replace FFmpeg. So the setting STENO_MEDIA can be the path of another build of the media
// program.

import { findCarried } from '../base/carried.ts'

/**
 * Returns the path of the media program. `chosen` is the setting STENO_MEDIA. If `chosen` is null, the built-in media
 * program is used. Throws if steno contains no media program for this machine.
 */
export function findProgram(chosen: string | null): string {
  const carried = chosen ?? findCarried(`native/${process.platform}-${process.arch}/steno-media`)
  if (carried === null)
    throw new Error(
      `steno has no media program for ${process.platform}-${process.arch}; STENO_MEDIA names one`,
    )
  return carried
}
