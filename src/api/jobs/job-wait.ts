// Holds the response to a request back until a job has ended.

import { ApiError } from '../../errors.ts'
import { findOwnJob, type Job } from '../../jobs/job.ts'
import type { Caller } from '../gate/credential.ts'
import { idleSeconds } from '../idle-timeout.ts'
import type { Service } from '../service.ts'

type Awaited = {
  request: Request
  server: { timeout(request: Request, seconds: number): void } | null
  caller: Caller
  params: { id: string }
  /**
   * The query parameter `wait`: the maximum time, in seconds, for which the request waits until the job has ended. If
   * `wait` is undefined, the request does not wait.
   */
  query: { wait?: number }
}

/**
 * Returns a job of the caller as soon as the job has ended. If the job is still unfinished after `seconds` seconds,
 * returns the unfinished job.
 */
export async function findAwaited(
  service: Service,
  { request, server, caller, params: { id }, query: { wait: seconds } }: Awaited,
): Promise<Job> {
  const find = () => findOwnJob(service.db, caller.accountId, id)
  if (seconds && find()) {
    // Switches off Bun's idle timeout, because no bytes are sent while the request waits.
    server?.timeout(request, 0)
    await service.live.ended(id, AbortSignal.any([request.signal, AbortSignal.timeout(seconds * 1000)]))
    server?.timeout(request, idleSeconds(service.config))
  }
  const job = find()
  if (!job) throw new ApiError('TRANSCRIPTION_NOT_FOUND')
  return job
}
