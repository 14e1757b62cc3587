// Writes a page of the statement of an account: its deposits and charges.

import type { Static } from '@sinclair/typebox'
import { centsOf, wholeSeconds } from '../accounts/price.ts'
import { balanceBefore, listStatement } from '../accounts/statement.ts'
import { findNames } from '../jobs/job-names.ts'
import { limits } from '../limits.ts'
import { readCursor, writeCursor } from './cursor.ts'
import { timestamp } from './jobs/job-json.ts'
import type { Service } from './service.ts'
import type * as shapes from './shapes/own-account.ts'

export function statementOf(
  { db, secrets }: Service,
  accountId: string,
  cursor?: string,
): Static<typeof shapes.statement> {
  const list = ['statement', accountId]
  const [id, balanceUnits] = cursor === undefined ? [] : readCursor(secrets, list, cursor)
  const before = id === undefined || balanceUnits === undefined ? null : { id, balanceUnits }
  const limit = limits.pageSizeDefault
  const entries = listStatement(db, accountId, { before, limit: limit + 1 })
  const shown = entries.slice(0, limit)
  const names = findNames(
    db,
    shown.flatMap(({ jobId }) => jobId ?? []),
  )
  const last = entries.length > limit ? shown.at(-1) : undefined
  return {
    items: shown.map(({ id, kind, units, balanceUnits, jobId, createdAt }) => {
      const job = jobId === null ? undefined : names.get(jobId)
      return {
        id,
        kind: kind === 'deposit' ? 'deposit' : 'charge',
        cents: centsOf(units),
        balance_cents: centsOf(balanceUnits),
        transcription_id: jobId,
        name: job?.name ?? null,
        audio_duration_seconds: job?.durationMs == null ? null : wholeSeconds(job.durationMs),
        created_at: timestamp(createdAt),
      }
    }),
    next_cursor: last ? writeCursor(secrets, list, [last.id, balanceBefore(last)]) : null,
  }
}
