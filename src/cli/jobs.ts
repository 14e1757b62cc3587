import { findAccount, listAccounts } from '../accounts/account.ts'
import { centsOf } from '../accounts/price.ts'
import type { Db } from '../db/db.ts'
import { cancelJob } from '../jobs/end.ts'
import { costCentsOf, findJob, type Job } from '../jobs/job.ts'
import { listNewestJobs } from '../jobs/list.ts'
import { type JobState, jobStates } from '../jobs/states.ts'
import { limits } from '../limits.ts'
import { mustFind } from './account-record.ts'
import { need, parseWhole, refuseEmpty } from './arguments.ts'
import { command } from './command.ts'
import { withData } from './data.ts'
import { UsageError } from './failure.ts'
import { print } from './print.ts'
import { recordOptions } from './settings.ts'

export const list = command({
  usage: 'steno jobs list [--account EMAIL] [--state STATE] [--limit N] [--json]',
  summary: 'List the newest jobs of all accounts.',
  options: {
    ...recordOptions,
    account: { type: 'string' },
    state: { type: 'string' },
    limit: { type: 'string' },
  },
  help: {
    account: 'only the jobs of this account',
    state: `one of ${jobStates.join(', ')}`,
    limit: `most jobs to list (${limits.pageSizeDefault})`,
  },
  choices: { state: jobStates },
  async run(positionals, values) {
    need(positionals)
    refuseEmpty(values, 'account', 'state')
    const limit = values.limit === undefined ? limits.pageSizeDefault : parseWhole(values.limit)
    if (!Number.isSafeInteger(limit) || limit < 1) throw new UsageError('--limit is a whole number from 1')
    const state = stateOf(values.state)
    const records = withData(values, db => {
      const accountId = values.account === undefined ? null : mustFind(db, values.account).id
      const emails = new Map(listAccounts(db).map(({ id, email }) => [id, email]))
      return listNewestJobs(db, { accountId, state, limit }).map(job =>
        recordOf(job, emails.get(job.accountId)),
      )
    })
    print(values, records, () => records.map(lineOf))
  },
})

export const show = command({
  usage: 'steno jobs show ID [--json]',
  summary: 'Show one job.',
  options: recordOptions,
  async run(positionals, values) {
    const [id] = need(positionals, 'ID')
    const record = withData(values, db => {
      const job = mustFindJob(db, id)
      return recordOf(job, findAccount(db, job.accountId)?.email)
    })
    print(values, record, () => Object.entries(record).map(([name, value]) => `${name}: ${value ?? ''}`))
  },
})

export const cancel = command({
  usage: 'steno jobs cancel ID [--json]',
  summary: 'Cancel a job and release its reserve. A running service stops its work within seconds.',
  options: recordOptions,
  async run(positionals, values) {
    const [id] = need(positionals, 'ID')
    const { releasedUnits } = withData(values, db => cancelJob(db, mustFindJob(db, id).accountId, id))
    const released = centsOf(releasedUnits)
    print(values, { id, cancelled: true, released_cents: released }, () => `${id} cancelled`)
  },
})

function mustFindJob(db: Db, id: string): Job {
  const job = findJob(db, id)
  if (!job || job.deletedAt !== null) throw new Error(`there is no job ${id}`)
  return job
}

function stateOf(given: string | undefined): JobState | null {
  if (given === undefined) return null
  const state = jobStates.find(known => known === given)
  if (state === undefined) throw new UsageError(`${given} is not one of ${jobStates.join(', ')}`)
  return state
}

/**
 * Returns the facts about a job that the operator may see. Leaves out the source and the transcript, which are private
 * to the account.
 */
function recordOf(job: Job, email: string | undefined) {
  const date = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())
  return {
    id: job.id,
    account: email ?? null,
    state: job.state,
    progress: job.progress,
    duration_seconds: job.durationMs === null ? null : job.durationMs / 1000,
    cost_cents: costCentsOf(job),
    error_code: job.errorCode,
    error_message: job.errorMessage,
    created_at: date(job.createdAt),
    started_at: date(job.startedAt),
    completed_at: date(job.completedAt),
  }
}

function lineOf(record: ReturnType<typeof recordOf>): string {
  const { id, account, state, progress, duration_seconds, error_code, created_at } = record
  const length = duration_seconds === null ? '-' : `${duration_seconds.toFixed(1)} s`
  const said = state === 'processing' ? progress : (error_code ?? '')
  return `${id}  ${created_at}  ${state.padEnd(11)} ${length.padEnd(9)} ${account}  ${said}`.trimEnd()
}
