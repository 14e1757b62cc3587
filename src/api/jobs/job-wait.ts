// Delays the response to a request until a job has ended, for at most the time that the request allows.

import { findOwnJob, type Job, requireOwnJob } from '../../jobs/job.ts'
import type { Caller } from '../gate/credential.ts'
import type { RequestState } from '../gate/request-state.ts'
import { type IdleTimer, pauseIdleTimeout } from '../idle-timeout.ts'
import type { Service } from '../service.ts'

export type Awaited = {
  request: Request
  server: IdleTimer
  caller: Caller
  requestState: RequestState
  params: { id: string }
  /**
   * The maximum time, in seconds, for which the request waits for the end of the job. If undefined, the request does
   * not wait.
   */
  query: { wait?: number }
}

/**
 * Returns a job of the caller. If `wait` is given, first waits up to that many seconds for the end of the job. Throws
 * an ApiError if the caller has no such job, or if the caller's credential was revoked during the wait.
 */
export async function findAwaited(
  service: Service,
  { request, server, caller, requestState, params: { id }, query: { wait: seconds } }: Awaited,
): Promise<Job> {
  const awaited = seconds ? findOwnJob(service.db, caller.accountId, id) : null
  if (seconds && awaited) {
    // Bun's idle timeout could close the connection, because no bytes are sent during the wait.
    const resumeTimeout = pauseIdleTimeout(service.config, server, request)
    await service.live.ended(awaited, AbortSignal.any([request.signal, AbortSignal.timeout(seconds * 1000)]))
    resumeTimeout()
    requestState.recheck()
  }
  return requireOwnJob(service.db, caller.accountId, id)
}
