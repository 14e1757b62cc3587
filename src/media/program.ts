// Finds the media program (native/media). It is the only program with FFmpeg inside. FFmpeg is under the LGPL,
// so the user may replace the program by another build of it: the setting STENO_MEDIA names that build.

import { findCarried } from '../base/carried.ts'

/** Returns the path of the media program. `chosen` is the value of the setting, or null. */
export function findProgram(chosen: string | null): string {
  const carried = chosen ?? findCarried(`native/${process.platform}-${process.arch}/steno-media`)
  if (carried === null)
    throw new Error(
      `steno has no media program for ${process.platform}-${process.arch}; STENO_MEDIA names one`,
    )
  return carried
}
