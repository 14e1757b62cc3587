import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { ApiError } from '../../errors.ts'
import { requireOwnJob } from '../../jobs/job.ts'
import { authenticate } from '../gate/credential.ts'
import { gate } from '../gate/gate.ts'
import { pauseIdleTimeout } from '../idle-timeout.ts'
import { about } from '../route.ts'
import type { Service } from '../service.ts'
import { eventHeaders, idParam, listedJob, segment } from '../shapes/job.ts'
import { eventStreamHeaders } from '../stream-headers.ts'
import { openEventStream } from './event-stream.ts'

/** The route of the server-sent events of a job. */
export const events = (service: Service) => {
  const streams = openStreamCounter(service)
  return new Elysia({ prefix: '/v1', tags: ['Transcriptions'] }).use(gate(service)).get(
    '/transcribe/:id/events',
    ({ request, server, caller, params: { id } }) => {
      const job = requireOwnJob(service.db, caller.accountId, id)
      const giveBack = streams.take(caller.countedAs)
      // The stream can be silent for longer than a short idle timeout (STENO_REQUEST_IDLE).
      const resumeTimeout = pauseIdleTimeout(service.config, server, request)
      const onEnd = () => {
        giveBack()
        resumeTimeout()
      }
      const stream = openEventStream(service.live, job, {
        signal: request.signal,
        utterancesSent: Number(/^\d{1,9}$/.exec(request.headers.get('last-event-id') ?? '')?.[0] ?? 0),
        isAdmitted: () => isAdmitted(service, request),
        onEnd,
      })
      return new Response(stream, { headers: eventStreamHeaders })
    },
    {
      account: 'events',
      params: idParam,
      headers: eventHeaders,
      detail: about({
        summary: 'Follow a transcription by server-sent events',
        description:
          'Event `job`: the job without its result, at each change but at most once a second. Event `segment`: an utterance and its `index`, as soon as it is complete; its speaker is null, because speakers are known at the end only. The stream ends after the event of the ended job. Last-Event-ID continues a stream.',
        otherBodies: {
          'text/event-stream': Type.Union([listedJob, segment], {
            description:
              'The data of an event: of `job` a ListedTranscription, of `segment` a SegmentEvent. The stream has comment lines too.',
          }),
        },
        fails: ['TRANSCRIPTION_NOT_FOUND'],
      }),
    },
  )
}

/**
 * Counts the open event streams of each caller. `take` throws an ApiError if the caller has too many streams.
 * Otherwise, it returns a function that must be called when the stream ends.
 */
function openStreamCounter({ rateLimiter }: Service): { take(who: string): () => void } {
  const open = new Map<string, number>()
  return {
    take(who) {
      const count = open.get(who) ?? 0
      const limit = rateLimiter.limitOf('events.open')
      if (limit !== null && count >= limit) {
        throw new ApiError('RATE_LIMIT_EXCEEDED', `${count} streams are open; close one first.`, {
          'Retry-After': '1',
        })
      }
      open.set(who, count + 1)
      return () => {
        const left = (open.get(who) ?? 0) - 1
        if (left > 0) open.set(who, left)
        else open.delete(who)
      }
    },
  }
}

function isAdmitted(service: Service, request: Request): boolean {
  try {
    authenticate(service, request)
    return true
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}
