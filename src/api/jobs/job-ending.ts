// The routes that cancel and delete a job.

import { Elysia } from 'elysia'
import { centsOf } from '../../accounts/price.ts'
import { errorOf } from '../../jobs/events.ts'
import { gate } from '../gate/gate.ts'
import { about } from '../route.ts'
import type { Service } from '../service.ts'
import * as shapes from '../shapes/job.ts'

export const jobEnding = (service: Service) =>
  new Elysia({ prefix: '/v1', tags: ['Transcriptions'] })
    .use(gate(service))

    .post(
      '/transcribe/:id/cancel',
      ({ caller, params }) => {
        const { job, releasedUnits } = service.runner.cancel(caller.accountId, params.id)
        return {
          id: job.id,
          status: 'failed' as const,
          error: errorOf(job),
          released_cents: centsOf(releasedUnits),
        }
      },
      {
        account: 'jobs.cancel',
        parse: 'none',
        params: shapes.idParam,
        response: { 200: shapes.cancelled },
        detail: about({ summary: 'Cancel a transcription', fails: ['TRANSCRIPTION_NOT_FOUND', 'CONFLICT'] }),
      },
    )

    .delete(
      '/transcribe/:id',
      ({ caller, params }) => {
        service.runner.delete(caller.accountId, params.id)
        service.indexer.wake()
        return new Response(null, { status: 204 })
      },
      {
        account: 'jobs.delete',
        parse: 'none',
        params: shapes.idParam,
        detail: about({
          summary: 'Delete an ended transcription with its transcript and media',
          success: { status: 204, description: 'Deleted, now or before' },
          fails: ['TRANSCRIPTION_NOT_FOUND', 'CONFLICT'],
        }),
      },
    )
