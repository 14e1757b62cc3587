// Converts an error to the failure of a job, and writes the log line at the end of a job.

import { LedgerError } from '../accounts/ledger.ts'
import { errorFields, log } from '../base/log.ts'
import { type JobErrorCode, JobFailure } from '../errors.ts'
import { costCentsOf, type Job } from './job.ts'

/**
 * Converts an error to the failure that the account sees. A JobFailure is returned as it is. A LedgerError becomes
 * BILLING_ERROR, and any other error becomes INTERNAL_ERROR.
 */
export function failureOf(job: Job, error: unknown): JobFailure {
  if (error instanceof JobFailure) return error
  const isBilling = error instanceof LedgerError
  log.error(isBilling ? 'charge not settled' : 'job broke', { job_id: job.id, ...errorFields(error) })
  return new JobFailure(isBilling ? 'BILLING_ERROR' : 'INTERNAL_ERROR')
}

/**
 * The error codes of failures that are not the fault of the account. Only the operator can correct their causes, so
 * these failures are logged as warnings.
 */
const ownFaults = new Set<JobErrorCode>([
  'PROCESSING_ERROR',
  'CREATED_TIMEOUT',
  'PROCESSING_TIMEOUT',
  'BILLING_ERROR',
  'INTERNAL_ERROR',
])

export function logEnd(job: Job): void {
  const { id, accountId, state, errorCode, errorMessage, durationMs } = job
  const isOwnFault = errorCode !== null && ownFaults.has(errorCode)
  const write = isOwnFault ? log.warn : log.info
  write(`job ${state}`, {
    job_id: id,
    account_id: accountId,
    code: errorCode,
    audio_ms: durationMs,
    cost_cents: costCentsOf(job) ?? 0,
    ...(isOwnFault && errorMessage !== null ? { reason: errorMessage } : {}),
  })
}
