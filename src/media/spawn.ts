// Starts the child process that reads one media file, reads the messages of this child process, and makes sure that the
// child process ends.

import { closeSync, openSync } from 'node:fs'
import { errorFields, log } from '../base/log.ts'
import { reasonOf } from '../base/reason.ts'
import { JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import { findProgram } from './program.ts'
import { failureOf, isRefusal } from './refusals.ts'
import { argumentsOf, checkBegin, type MediaOrder, type Message, readMessages } from './wire.ts'

export type Bounds = {
  /**
   * The maximum time between two messages of the child process, in milliseconds. The child process is killed if no
   * message arrives in this time.
   */
  stallMs: number
  /**
   * `openCpuMs` is the maximum CPU time until the child process has opened the media file. `cpuMs` is the maximum CPU
   * time of the whole child process. Both are in milliseconds.
   */
  openCpuMs: number
  cpuMs: number
  memoryBytes: number
  /** The nice value of the child process. */
  priority: number
}

export type SpawnOptions = {
  signal: AbortSignal
  durationMsMax: number
  /**
   * The path of another build of the media program. If it is null or missing, the media program that steno contains is
   * used.
   */
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
 * Starts the media program on a file. Yields each block of samples that the media program sends, and then returns the
 * result of the operation. The child process has always exited when this function returns.
 */
export async function* runChild(
  { operation, channel }: Work,
  path: string,
  { signal, durationMsMax, mediaProgram = null, bounds }: SpawnOptions,
): AsyncGenerator<Uint8Array, unknown> {
  signal.throwIfAborted()
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
      hasBegun = true
      if (next.value.kind === 'end') return resultOf(next.value)
      if (next.value.kind === 'samples') yield next.value.body
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
    // Discards the messages that the child process sent and that were not read.
    await messages.return(undefined)
  }
}

/** The error codes of a failed system call if the system has no free file descriptor, process or memory. */
const exhaustedCodes = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'])

/**
 * Starts the child process. If the system has no free file descriptor, process or memory, tries again for at most
 * `waitMs` milliseconds.
 */
async function startWhenPossible(
  mediaProgram: string | null,
  args: string[],
  path: string,
  { signal, waitMs }: { signal: AbortSignal; waitMs: number },
) {
  const began = performance.now()
  for (;;) {
    try {
      return start(mediaProgram, args, path)
    } catch (error) {
      if (!(error instanceof Exhausted)) throw error
      if (performance.now() - began > waitMs) throw new JobFailure('INTERNAL_ERROR')
      log.warn('media program waits', { cause: reasonOf(error.cause) })
    }
    await Bun.sleep(limits.mediaStartRetryMs)
    signal.throwIfAborted()
  }
}

class Exhausted extends Error {}

/**
 * Throws `Exhausted` if the error means that the system lacks a resource, because the error may disappear when other
 * work ends. Otherwise returns.
 */
function throwIfExhausted(error: unknown): void {
  if (exhaustedCodes.has(Object(error).code)) throw new Exhausted('exhausted', { cause: error })
}

/**
 * Starts the child process. It inherits no environment, working folder or file descriptor of this process, except the
 * media file as its stdin.
 */
function start(mediaProgram: string | null, args: string[], path: string) {
  const file = open(path)
  try {
    const program = findProgram(mediaProgram)
    return Bun.spawn([program, ...args], { stdin: file, stdout: 'pipe', stderr: 'ignore', cwd: '/', env: {} })
  } catch (error) {
    throwIfExhausted(error)
    log.error('media program cannot start', errorFields(error))
    throw new JobFailure(
      'PROCESSING_ERROR',
      'The file could not be processed: the media program does not start.',
    )
  } finally {
    closeSync(file)
  }
}

function open(path: string): number {
  try {
    return openSync(path, 'r')
  } catch (error) {
    throwIfExhausted(error)
    log.error('media file missing', errorFields(error))
    throw new JobFailure('INTERNAL_ERROR')
  }
}

function resultOf({ body }: Message): unknown {
  const { done, refused } = JSON.parse(new TextDecoder().decode(body)) as {
    done?: unknown
    refused?: unknown
  }
  if (isRefusal(refused)) throw failureOf(refused)
  if (done === undefined) throw new Error('ended without a result')
  return done
}
