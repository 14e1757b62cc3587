// Starts the media program, which reads a media file with FFmpeg, as a child process.

import { closeSync, openSync } from 'node:fs'
import { unpackCarried } from '../base/carried.ts'
import { errorFields, log } from '../base/log.ts'
import { reasonOf } from '../base/reason.ts'
import { spawnChild } from '../base/spawn-child.ts'
import { JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import { findProgram } from './program.ts'

/** The error codes of a system call that fails because the system has no free file descriptor, process or memory. */
const exhaustedCodes = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'])

/** Starts the child process. Tries again for at most `waitMs` milliseconds if the system lacks a resource. */
export async function startWhenPossible(
  mediaProgram: string | null,
  args: string[],
  path: string,
  { signal, waitMs }: { signal: AbortSignal; waitMs: number },
) {
  const began = performance.now()
  for (;;) {
    try {
      if (mediaProgram === null) await unpackCarried().catch(refuse)
      signal.throwIfAborted()
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

/** Throws `Exhausted` if the error means that the system lacks a resource. The caller can then try again. */
function throwIfExhausted(error: unknown): void {
  if (exhaustedCodes.has(Object(error).code)) throw new Exhausted('exhausted', { cause: error })
}

/**
 * Starts the child process. It inherits no environment, working folder or file descriptor, except the media file as its
 * stdin.
 */
function start(mediaProgram: string | null, args: string[], path: string) {
  const file = open(path)
  try {
    const program = findProgram(mediaProgram)
    return spawnChild([program, ...args], {
      stdin: file,
      stdout: 'pipe',
      stderr: 'ignore',
      cwd: '/',
      env: {},
    })
  } catch (error) {
    return refuse(error)
  } finally {
    closeSync(file)
  }
}

/**
 * Throws the error of a job whose media program cannot be started. Throws `Exhausted` instead if the system lacks a
 * resource.
 */
function refuse(error: unknown): never {
  throwIfExhausted(error)
  log.error('media program cannot start', errorFields(error))
  throw new JobFailure(
    'PROCESSING_ERROR',
    'The file could not be processed: the media program does not start.',
  )
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
