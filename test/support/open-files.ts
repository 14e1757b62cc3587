import { readdirSync, readlinkSync } from 'node:fs'

/**
 * Returns the paths of the files and folders at `place` and below it that this process has open. Open files elsewhere
 * are left out, because another thread may close files of earlier tests at any time. Returns nothing on a system other
 * than Linux.
 */
export function openFilesIn(place: string): string[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc/self/fd')
    .map(pathOf)
    .filter(path => path.startsWith(place))
}

function pathOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`)
  } catch {
    // Another thread has closed the file descriptor since the folder `/proc/self/fd` was listed.
    return ''
  }
}
