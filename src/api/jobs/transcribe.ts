// The route that starts a transcription.

import { Elysia } from 'elysia'
import type { Job } from '../../jobs/job.ts'
import { checkSubmission } from '../../jobs/submission.ts'
import { submitJob } from '../../jobs/submit.ts'
import { gate } from '../gate/gate.ts'
import { about } from '../route.ts'
import type { Service } from '../service.ts'
import { accepted, transcribeRequest } from '../shapes/transcribe.ts'

export const transcribe = (service: Service) =>
  new Elysia({ prefix: '/v1', tags: ['Transcriptions'] })
    .use(gate(service))

    .post(
      '/transcribe',
      async ({ body, caller, requestState, once }) => {
        await checkSubmission(body, url => service.checkWebhookUrl(url, caller.accountId))
        // The check of the webhook address looks up a host name, which can take seconds. The credential may be revoked
        // during this time, so it is checked again.
        requestState.recheck()
        const { made, reply } = once(() => {
          if (body.url != null) service.uploads.requireRoom(caller.accountId)
          return submitJob(service.db, caller, body, service.config)
        }, answerOf)
        service.runner.start(made)
        return reply
      },
      {
        submit: 'jobs.create',
        body: transcribeRequest,
        response: { 200: accepted },
        detail: about({
          summary: 'Start a transcription',
          fails: [
            'FILE_NOT_UPLOADED',
            'FILE_TOO_LARGE',
            'UPLOAD_ALREADY_USED',
            'UPLOAD_EXPIRED',
            'ZERO_BALANCE',
            'INSUFFICIENT_BALANCE',
            'UPLOAD_NOT_FOUND',
            'INSUFFICIENT_STORAGE',
          ],
        }),
      },
    )

const answerOf = ({ id }: Job) => ({
  id,
  status: 'created',
  message: `Accepted. Ask GET /v1/transcribe/${id} how it goes.`,
})
