// Starts the child that reads one media file, listens to it, and makes sure that it ends.

import { closeSync, openSync } from 'node:fs'
import { constants } from 'node:os'
import { unpackedEnvironment } from '../base/carried.ts'
import { errorFields, log } from '../base/log.ts'
import { reasonOf } from '../base/reason.ts'
import { selfCommand } from '../base/self.ts'
import { JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import { failureOf, isRefusal } from './refusals.ts'
import { type Message, type Order, readMessages } from './wire.ts'

export type Bounds = {
  /** The longest time it may say nothing while it is being listened to. */
  stallMs: number
  cpuMs: number
  memoryBytes: number
  /** As `nice` has it: 19 waits for everything else. */
  priority: number
}

export type SpawnOptions = {
  signal: AbortSignal
  durationMsMax: number
  bounds?: Partial<Bounds>
  /** What is started; tests put a child of their own in its place. */
  command?: string[]
}

const usual: Bounds = {
  stallMs: limits.mediaStallMs,
  cpuMs: limits.mediaCpuMs,
  memoryBytes: limits.mediaMemoryBytes,
  priority: constants.priority.PRIORITY_LOW,
}

/** Gives each body of samples as it comes, then what the job says at its end. However it ends, the child has too. */
export async function* runChild(
  job: Order['job'],
  path: string,
  { signal, durationMsMax, bounds, command = selfCommand('media') }: SpawnOptions,
): AsyncGenerator<Uint8Array, unknown> {
  signal.throwIfAborted()
  const { stallMs, ...confinement } = { ...usual, ...bounds }
  const order: Order = { job, parent: process.pid, ...confinement, durationMsMax }
  const child = start([...command, JSON.stringify(order)], path)
  const kill = () => child.kill('SIGKILL')
  signal.addEventListener('abort', kill)
  let stalled = false
  const messages = readMessages(child.stdout)
  try {
    for (;;) {
      const timer = setTimeout(() => {
        stalled = true
        kill()
      }, stallMs)
      const next = await messages.next().finally(() => clearTimeout(timer))
      signal.throwIfAborted()
      if (stalled) throw new Error('said nothing for too long')
      if (next.done) throw new Error('ended without a word')
      if (next.value.kind === 'end') return verdictOf(next.value)
      if (next.value.kind === 'samples') yield next.value.body
    }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof JobFailure) throw error
    kill()
    await child.exited
    const cause = reasonOf(error)
    log.warn('media.child_failed', { job, cause, exit: child.exitCode, signal: child.signalCode })
    throw new JobFailure(
      'PROCESSING_ERROR',
      'The file could not be processed: reading it did not come to an end.',
    )
  } finally {
    signal.removeEventListener('abort', kill)
    kill()
    await child.exited
    // Whatever it had said on top is thrown away.
    await messages.return(undefined)
  }
}

/** Without our environment, working folder and descriptors: the open file on stdin is all it gets. */
function start(command: string[], path: string) {
  const file = open(path)
  try {
    return Bun.spawn(command, {
      stdin: file,
      stdout: 'pipe',
      stderr: 'ignore',
      cwd: '/',
      // Bun's own report of a crash would call out and take its time.
      env: { ...unpackedEnvironment(), BUN_ENABLE_CRASH_REPORTING: '0' },
    })
  } finally {
    closeSync(file)
  }
}

function open(path: string): number {
  try {
    return openSync(path, 'r')
  } catch (error) {
    log.error('media.file_gone', errorFields(error))
    throw new JobFailure('INTERNAL_ERROR')
  }
}

function verdictOf({ body }: Message): unknown {
  const verdict = JSON.parse(new TextDecoder().decode(body)) as { done?: unknown; refused?: unknown }
  if (isRefusal(verdict.refused)) throw failureOf(verdict.refused)
  if (verdict.done === undefined) throw new Error('ended without a result')
  return verdict.done
}
