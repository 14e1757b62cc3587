// The HTTP routes for workers on other machines. A worker downloads the media file of its job. Transcription options
// and results that are too large for a NATS message also go over HTTP. Each address is signed, so a request needs no
// API key. No rate limit applies.

import { Elysia } from 'elysia'
import { ApiError } from '../errors.ts'
import { findJob } from '../jobs/job.ts'
import { limits } from '../limits.ts'
import { readBody } from './gate/body.ts'
import { emptyState } from './gate/request-state.ts'
import { pauseIdleTimeout } from './idle-timeout.ts'
import { sendSource } from './jobs/media.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'

type Fleet = NonNullable<Service['fleet']>
type Query = Record<string, string | undefined>

export const workers = (service: Service, fleet: Fleet) => {
  function requireSigned(purpose: Parameters<Fleet['allows']>[0], jobId: string, query: Query): void {
    const { fence = '', expires = '', signature = '' } = query
    if (!fleet.allows(purpose, { jobId, fence, expires, signature })) throw new ApiError('FORBIDDEN')
  }

  return new Elysia({ prefix: '/v1/workers/jobs' })
    .decorate('requestState', emptyState)

    .get(
      '/:id/media',
      ({ request, params: { id }, query }) => {
        requireSigned('media', id, query)
        const job = findJob(service.db, id)
        if (!job) throw new ApiError('TRANSCRIPTION_NOT_FOUND')
        return sendSource(service, job, request)
      },
      { detail: about({ hide: true }) },
    )

    .get(
      '/:id/input',
      ({ params: { id }, query }) => {
        requireSigned('input', id, query)
        const input = fleet.inputOf(id)
        if (!input) throw new ApiError('TRANSCRIPTION_NOT_FOUND')
        return input
      },
      { detail: about({ hide: true }) },
    )

    .put(
      '/:id/result',
      async ({ request, server, params: { id }, query }) => {
        requireSigned('result', id, query)
        // Bun's idle timeout could close the connection, because no bytes are sent until the result is stored.
        const resumeTimeout = pauseIdleTimeout(service.config, server, request)
        try {
          return await fleet.deliver(await readBody(request, limits.workerResultBytesMax))
        } finally {
          resumeTimeout()
        }
      },
      { parse: 'none', detail: about({ hide: true }) },
    )
}
