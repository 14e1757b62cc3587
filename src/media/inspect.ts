// Inspects a media file in a child process. Also refuses the file if its audio is too short or too long.

import { log } from '../base/log.ts'
import { formatDuration } from '../base/units.ts'
import { JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Inspection, Media } from './media.ts'
import { type Bounds, runChild } from './run-child.ts'

export type MediaOptions = {
  durationMsMin: number
  durationMsMax: number
  mediaProgram?: string | null
  bounds?: Partial<Bounds>
}

export function openMedia({ durationMsMin, durationMsMax, ...rest }: MediaOptions): Media {
  return {
    inspect: async (path, { signal }) => {
      const bounds = {
        stallMs: limits.mediaInspectMs,
        cpuMs: limits.mediaInspectCpuMs,
        priority: limits.mediaInspectNice,
        ...rest.bounds,
      }
      const child = runChild({ operation: 'inspect', channel: 0 }, path, {
        ...rest,
        bounds,
        signal,
        durationMsMax,
      })
      const next = await child.next()
      const inspection = next.done ? readInspection(next.value) : null
      if (!inspection) {
        log.warn('media child failed', { operation: 'inspect', cause: 'an invalid result' })
        throw new JobFailure('PROCESSING_ERROR')
      }
      const { durationMs } = inspection
      if (durationMs < durationMsMin) {
        const seconds = (durationMs / 1000).toFixed(3)
        const message = `The audio is ${seconds} seconds long; at least ${formatDuration(durationMsMin)} is needed.`
        throw new JobFailure('INVALID_MEDIA_FORMAT', message)
      }
      if (durationMs > durationMsMax) {
        const message = `The audio is longer than the limit of ${formatDuration(durationMsMax)}.`
        throw new JobFailure('DURATION_TOO_LONG', message)
      }
      return inspection
    },
  }
}

/**
 * Checks the result that the child process sent. A hostile file may control the child process, so any value is
 * possible. Returns null if a field is missing or invalid.
 */
export function readInspection(result: unknown): Inspection | null {
  const { container, codec, sampleRate, channels, durationMs } = Object(result) as Record<string, unknown>
  if (!isName(container) || !isName(codec)) return null
  if (!isCount(sampleRate) || !isCount(channels) || !isDuration(durationMs)) return null
  return { container, codec, sampleRate, channels, durationMs }
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z0-9_]{1,32}$/.test(value)
}

/**
 * Returns true for a whole number from 0 on. The number may be above the largest safe integer, because wrong timestamps
 * can give such a duration.
 */
function isDuration(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
