import { Elysia } from 'elysia'
import { parseInstant } from '../../base/instant.ts'
import { ApiError } from '../../errors.ts'
import { type ListFilter, listJobs } from '../../jobs/list.ts'
import { limits } from '../../limits.ts'
import { readCursor, writeCursor } from '../cursor.ts'
import { gate } from '../gate/gate.ts'
import { about } from '../route.ts'
import type { Service } from '../service.ts'
import * as shapes from '../shapes/transcriptions.ts'
import { listedJob } from './job-json.ts'
import { answerJson } from './large-answers.ts'

export const transcriptions = (service: Service) =>
  new Elysia({ prefix: '/v1', tags: ['Transcriptions'] })
    .use(gate(service))

    .get(
      '/transcriptions',
      ({ request, requestState, caller, query }) => {
        const filter: ListFilter = {
          status: query.status ?? null,
          fromMs: instant('from', query.from),
          toMs: instant('to', query.to),
          order: query.order ?? 'desc',
        }
        const page = () => pageOf(service, caller.accountId, filter, query)
        return answerJson({ request, requestState, caller }, page)
      },
      {
        account: 'jobs.list',
        query: shapes.listQuery,
        detail: about({
          answer: shapes.page,
          summary: 'List transcriptions, page by page',
          fails: ['INVALID_REQUEST'],
        }),
      },
    )

/** Returns one page of the jobs of an account. */
export function pageOf(
  { db, secrets }: Service,
  accountId: string,
  filter: ListFilter,
  { limit = limits.pageSizeDefault, cursor }: { limit?: number; cursor?: string },
) {
  const { status, fromMs, toMs, order } = filter
  const list = [accountId, status, fromMs, toMs, order]
  const [createdAt, seq] = cursor === undefined ? [] : readCursor(secrets, list, cursor)
  const after = createdAt === undefined || seq === undefined ? null : { createdAt, seq }
  // The query reads one job more than the page contains. If this job exists, there is a next page.
  const jobs = listJobs(db, accountId, filter, { after, limit: limit + 1 })
  const items = jobs.slice(0, limit)
  const last = jobs.length > limit ? items.at(-1) : undefined
  return {
    items: items.map(listedJob),
    next_cursor: last ? writeCursor(secrets, list, [last.createdAt, last.seq]) : null,
  }
}

function instant(name: string, text: string | undefined): number | null {
  if (text === undefined) return null
  const ms = parseInstant(text)
  if (ms !== null) return ms
  // In a query, a plus sign means a space: the time zone +01:00 arrives as a space and 01:00.
  const hint = / \d{2}:?\d{2}$/.test(text) ? ' Write the plus sign of a time zone as %2B.' : ''
  throw new ApiError('INVALID_REQUEST', `${name} is not an ISO 8601 time.${hint}`)
}
