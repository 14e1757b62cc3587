// All routes of the HTTP application. The OpenAPI document lists the routes in the same order.

import { type AnyElysia, Elysia } from 'elysia'
import { accounts } from './accounts.ts'
import { balance } from './balance.ts'
import { grants } from './grants.ts'
import { introduction } from './introduction.ts'
import { deliveries } from './jobs/deliveries.ts'
import { edits } from './jobs/edits.ts'
import { events } from './jobs/events.ts'
import { jobEnding } from './jobs/job-ending.ts'
import { jobReading } from './jobs/job-reading.ts'
import { media } from './jobs/media.ts'
import { search } from './jobs/search.ts'
import { transcribe } from './jobs/transcribe.ts'
import { transcriptions } from './jobs/transcriptions.ts'
import { mcp } from './mcp/endpoint.ts'
import { oauth } from './oauth/routes.ts'
import { audio } from './openai/audio.ts'
import { models } from './openai/models.ts'
import { operator } from './operator.ts'
import { ops } from './ops.ts'
import { ownAccount } from './own-account.ts'
import { ownJobs } from './own-jobs.ts'
import { ownKeys } from './own-keys.ts'
import { ownPassword } from './own-password.ts'
import { ownWebhook } from './own-webhook.ts'
import { page } from './page.ts'
import type { RequestLog } from './request-log.ts'
import type { Service } from './service.ts'
import { sessions } from './sessions.ts'
import { resumable } from './uploads/resumable.ts'
import { signedUpload } from './uploads/signed-upload.ts'
import { uploads } from './uploads/uploads.ts'
import { voices } from './voices.ts'
import { workerModels } from './worker-models.ts'
import { workers } from './workers.ts'

/**
 * Adds the routes to the app, each group directly. With an Elysia instance between the app and the groups, Elysia would
 * prepare each route once more.
 */
export function useRoutes(app: AnyElysia, service: Service, requestLog: RequestLog): void {
  app
    .use(introduction(service, () => app))
    .use(accounts(service))
    .use(balance(service))
    .use(resumable(service))
    .use(uploads(service))
    .use(signedUpload(service))
    .use(transcribe(service))
    .use(jobReading(service))
    .use(edits(service))
    .use(jobEnding(service))
    .use(events(service))
    .use(media(service))
    .use(deliveries(service))
    .use(transcriptions(service))
    .use(search(service))
    .use(voices(service))
    .use(audio(service))
    .use(models(service))
    .use(ops(service))
    .use(service.fleet ? workers(service, service.fleet) : new Elysia())
    .use(service.fleet ? workerModels(service, service.fleet) : new Elysia())
    .use(oauth(service))
    .use(mcp(service))
    .use(page(service))
  if (service.config.dashboard) useDashboard(app, service, requestLog)
}

/** Adds the routes below /app, for the web app. All except the sign-in need the cookie of a session. */
function useDashboard(app: AnyElysia, service: Service, requestLog: RequestLog): void {
  app
    .use(sessions(service))
    .use(grants(service))
    .use(ownKeys(service))
    .use(ownJobs(service))
    .use(ownAccount(service))
    .use(ownPassword(service))
    .use(ownWebhook(service))
    .use(operator(service, requestLog))
}
