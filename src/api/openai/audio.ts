// OpenAI's audio endpoints. A request creates an ordinary job. The response is sent when the job has ended.

import { Elysia } from 'elysia'
import { requireBalance } from '../../accounts/funds.ts'
import { submitJob } from '../../jobs/submit.ts'
import { listedCode } from '../../languages.ts'
import { limits } from '../../limits.ts'
import type { Caller } from '../credential.ts'
import { gate } from '../gate.ts'
import { about, type RouteDetail } from '../route.ts'
import type { Service } from '../service.ts'
import { type AwaitedJob, startAwaited } from './awaited-job.ts'
import { OpenAiError } from './errors.ts'
import { readFields, type Wanted } from './fields.ts'
import { withForm } from './form.ts'
import { replyEvents, replyWhole } from './reply.ts'
import * as shapes from './shapes.ts'

const fails: RouteDetail['fails'] = [
  'INVALID_REQUEST',
  'REQUEST_TIMEOUT',
  'CONFLICT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'ZERO_BALANCE',
  'INSUFFICIENT_BALANCE',
  'INSUFFICIENT_STORAGE',
]

const description =
  'The answer waits for the end of the job. When the caller disconnects, the job is cancelled.'

export const audio = (service: Service) =>
  new Elysia({ prefix: '/v1/audio', tags: ['OpenAI'] })
    .use(gate(service))

    .post(
      '/transcriptions',
      ({ request, server, caller }) => answer(service, { request, server, caller, task: 'transcribe' }),
      {
        account: 'openai',
        parse: 'none',
        detail: about({
          summary: 'Transcribe a recording, with the interface of OpenAI',
          description,
          dialect: 'openai',
          form: shapes.transcriptionForm,
          answer: shapes.transcription,
          otherBodies: {
            'text/plain': 'Plain text, or SubRip',
            'text/vtt': 'WebVTT',
            'text/event-stream': 'With `stream`: the events transcript.text.delta, .segment and .done',
          },
          fails,
        }),
      },
    )

    .post(
      '/translations',
      ({ request, server, caller }) => answer(service, { request, server, caller, task: 'translate' }),
      {
        account: 'openai',
        parse: 'none',
        detail: about({
          summary: 'Translate a recording to English, with the interface of OpenAI',
          description,
          dialect: 'openai',
          form: shapes.translationForm,
          answer: shapes.translation,
          otherBodies: { 'text/plain': 'Plain text, or SubRip', 'text/vtt': 'WebVTT' },
          fails,
        }),
      },
    )

type Call = {
  request: Request
  server: { timeout(request: Request, seconds: number): void } | null
  caller: Caller
  task: shapes.Task
}

/**
 * Receives the form of a transcription or translation request, runs a job for it, and returns the result of the job.
 */
async function answer(service: Service, { request, server, caller, task }: Call): Promise<Response> {
  const { config, db, uploads } = service
  requireBalance(db, caller.accountId, config.pricePerHourCents)
  // Switches off Bun's idle timeout. The upload store has its own timeout: it aborts a form when no more bytes arrive.
  // The job has timeouts too.
  server?.timeout(request, 0)
  const restoreTimeout = () => server?.timeout(request, config.requestIdleMs / 1000)
  try {
    const { job, wanted } = await withForm(uploads, caller.accountId, request, async form => {
      const wanted = readFields(form.fields, task)
      requireServed(service, wanted)
      if (task === 'translate') requireTranslation(service)
      const facts = { filename: form.filename, contentType: 'application/octet-stream' }
      const { id } = await form.file.keep(caller.accountId, facts)
      return {
        job: startJob(service, caller, { uploadId: id, wanted, task, signal: request.signal }),
        wanted,
      }
    })
    job.ended.then(restoreTimeout)
    const patience = { quietMs: limits.answerQuietMs, beatMs: limits.answerBeatMs }
    const choice = { ...wanted, task }
    return await (wanted.stream ? replyEvents(job, choice, patience) : replyWhole(job, choice, patience))
  } catch (error) {
    restoreTimeout()
    throw error
  }
}

/**
 * Submits and starts a job for a form that has arrived completely. If the job is refused, removes the uploaded file.
 */
function startJob(
  service: Service,
  caller: Caller,
  {
    uploadId,
    wanted,
    task,
    signal,
  }: { uploadId: string; wanted: Wanted; task: shapes.Task; signal: AbortSignal },
): AwaitedJob {
  const { language, prompt, vocabulary, format } = wanted
  const submission = {
    upload_id: uploadId,
    language,
    prompt,
    vocabulary: [...vocabulary],
    diarize: format === 'diarized_json',
    translate: task === 'translate',
    // Words can be aligned with the sound only if they are in the spoken language. The words of a translation are not.
    align: task === 'transcribe',
  }
  try {
    const jobId = submitJob(service.db, caller, submission, service.config)
    return startAwaited(service, caller.accountId, jobId, signal)
  } catch (error) {
    service.uploads.discard(uploadId)
    throw error
  }
}

/**
 * Throws if the loaded models do not support the requested language. Accepts every language while no model is loaded
 * yet.
 */
function requireServed({ engine }: Service, { language }: Wanted): void {
  const served = engine.languages()
  if (language === null || served.length === 0 || served.includes(listedCode(language))) return
  throw new OpenAiError('INVALID_REQUEST', `No model of this service knows the language '${language}'.`, {
    param: 'language',
    reason: 'unsupported_language',
  })
}

/** Throws if the loaded models cannot translate. Accepts a translation request while no model is loaded yet. */
function requireTranslation({ engine }: Service): void {
  if (engine.translates() !== false) return
  const { model } = engine.state()
  throw new OpenAiError('INVALID_REQUEST', `The model of this service, ${model}, cannot translate.`, {
    param: 'model',
    reason: 'unsupported_model',
  })
}
