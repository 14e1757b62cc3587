// Fake media files: the content is a text with the duration, such as `steno-test 11.700`. With fake files, most tests
// do not need FFmpeg.

import { readFileSync } from 'node:fs'
import { JobFailure } from '../../src/errors.ts'
import type { Media } from '../../src/media/media.ts'
import { defaults } from './defaults.ts'

/** Returns the content of a fake media file with a duration of `seconds`. */
export function speech(seconds: number): string {
  return `steno-test ${seconds.toFixed(3)}`
}

export const statedMedia: Media = {
  async inspect(path) {
    const [, seconds] = /^steno-test ([\d.]+)$/.exec(readFileSync(path, 'utf8')) ?? []
    if (!seconds) throw new JobFailure('INVALID_MEDIA_FORMAT')
    const durationMs = Math.round(Number(seconds) * 1000)
    if (durationMs > defaults.durationMsMax) throw new JobFailure('DURATION_TOO_LONG')
    return { container: 'test', codec: 'test', sampleRate: 16_000, channels: 1, durationMs }
  },
}
