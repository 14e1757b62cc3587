// The route with which the web app reads the request of a job, to submit the job again.

import { Elysia } from 'elysia'
import { requireOwnJob } from '../jobs/job.ts'
import { submissionOf } from '../jobs/submission.ts'
import { gate } from './gate/gate.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'
import { idParam } from './shapes/job.ts'
import { transcribeRequest } from './shapes/transcribe.ts'

export const ownJobs = (service: Service) =>
  new Elysia({ prefix: '/app' }).use(gate(service)).get(
    '/jobs/:id/request',
    ({ caller, params }) => {
      const job = requireOwnJob(service.db, caller.accountId, params.id)
      return submissionOf(job)
    },
    {
      session: 'app',
      params: idParam,
      response: { 200: transcribeRequest },
      detail: about({ summary: 'Read the request of a job' }),
    },
  )
