// Runs the media program (native/media, which contains FFmpeg) on one file in a child process, and reads its messages.
// The media program finds out what the file contains, or decodes its sound. The messages contain the result.

import { log } from '../base/log.ts'
import { reasonOf } from '../base/reason.ts'
import { JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import { argumentsOf, type MediaOrder } from './order.ts'
import { failureOf, isRefusal } from './refusals.ts'
import { startWhenPossible } from './spawn.ts'
import { checkBegin, type Message, readMessages } from './wire.ts'

export type Bounds = {
  /**
   * The maximum time between two messages of the child process, in milliseconds. After this time, the child process is
   * killed.
   */
  stallMs: number
  /** The maximum CPU time until the child process has opened the media file, in milliseconds. */
  openCpuMs: number
  /** The maximum CPU time of the whole child process, in milliseconds. */
  cpuMs: number
  memoryBytes: number
  /** The nice value of the child process. A process with a higher nice value gets less CPU time. */
  priority: number
}

export type SpawnOptions = {
  signal: AbortSignal
  durationMsMax: number
  /** The path of another build of the media program. If it is null or missing, the built-in media program is used. */
  mediaProgram?: string | null
  bounds?: Partial<Bounds>
}

type Work = Pick<MediaOrder, 'operation' | 'channel'>

const defaultBounds: Bounds = {
  stallMs: limits.mediaStallMs,
  openCpuMs: limits.mediaOpenCpuMs,
  cpuMs: limits.mediaDecodeCpuMs,
  memoryBytes: limits.mediaMemoryBytes,
  priority: limits.engineNice,
}

/**
 * Starts the media program on a file. Yields each block of samples, and then returns the result of the operation. The
 * child process has always exited when the generator ends.
 */
export async function* runChild(
  { operation, channel }: Work,
  path: string,
  { signal, durationMsMax, mediaProgram = null, bounds }: SpawnOptions,
): AsyncGenerator<Uint8Array, unknown> {
  const { stallMs, ...confinement } = { ...defaultBounds, ...bounds }
  const order: MediaOrder = { operation, parent: process.pid, ...confinement, durationMsMax, channel }
  const child = await startWhenPossible(mediaProgram, argumentsOf(order), path, { signal, waitMs: stallMs })
  const kill = () => child.kill('SIGKILL')
  signal.addEventListener('abort', kill)
  let stalled = false
  let hasBegun = false
  const messages = readMessages(child.stdout)
  try {
    for (;;) {
      const timer = setTimeout(() => {
        stalled = true
        kill()
      }, stallMs)
      const next = await messages.next().finally(() => clearTimeout(timer))
      signal.throwIfAborted()
      if (stalled) throw new Error('no message for too long')
      if (next.done) throw new Error('ended without a result')
      if (!hasBegun) checkBegin(next.value)
      else if (next.value.kind === 'end') return resultOf(next.value)
      else if (operation === 'inspect') throw new Error('an inspection has only a result')
      else if (next.value.kind === 'samples') yield samplesOf(next.value)
      hasBegun = true
    }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof JobFailure) throw error
    kill()
    await child.exited
    if (child.signalCode === 'SIGXCPU') throw failureOf('too-slow')
    const cause = reasonOf(error)
    log.warn('media child failed', { operation, cause, exit: child.exitCode, signal: child.signalCode })
    throw new JobFailure(
      'PROCESSING_ERROR',
      'The file could not be processed: reading it did not come to an end.',
    )
  } finally {
    signal.removeEventListener('abort', kill)
    kill()
    await child.exited
    // Discards the messages that were not read.
    await messages.return(undefined)
  }
}

function samplesOf({ body }: Message): Uint8Array {
  if (body.length % Float32Array.BYTES_PER_ELEMENT !== 0) throw new Error('sent a part of a sample')
  return body
}

function resultOf({ body }: Message): object {
  const { done, refused } = JSON.parse(new TextDecoder().decode(body)) as {
    done?: unknown
    refused?: unknown
  }
  if (isRefusal(refused)) throw failureOf(refused)
  if (typeof done !== 'object' || done === null) throw new Error('ended without a result')
  return done
}
