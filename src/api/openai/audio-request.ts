// Answers a request to one of OpenAI's audio endpoints: creates an ordinary job and waits for its result.

import { requireBalance } from '../../accounts/funds.ts'
import type { Job } from '../../jobs/job.ts'
import { submitJob } from '../../jobs/submit.ts'
import { listedCode } from '../../languages.ts'
import { limits } from '../../limits.ts'
import type { Caller } from '../gate/credential.ts'
import type { RequestState } from '../gate/request-state.ts'
import { type IdleTimer, pauseIdleTimeout } from '../idle-timeout.ts'
import type { Service } from '../service.ts'
import { startAwaited } from './awaited-job.ts'
import { OpenAiError } from './errors.ts'
import { withForm } from './form.ts'
import { readFields, type Wanted } from './options.ts'
import { replyEvents, replyWhole } from './reply.ts'
import type { Task } from './shapes/forms.ts'

type Call = {
  request: Request
  server: IdleTimer
  caller: Caller
  requestState: RequestState
  task: Task
}

/** Receives the form of a transcription or translation request, runs a job, and returns the result. */
export async function answer(service: Service, call: Call): Promise<Response> {
  const { config, db, uploads } = service
  const { request, server, caller, requestState, task } = call
  requireBalance(db, caller.accountId, config.pricePerHourCents)
  // Bun's idle timeout could close the connection while the response waits for the job. The upload has its own timeout.
  const resumeTimeout = pauseIdleTimeout(config, server, request)
  try {
    const { job, wanted } = await withForm(uploads, caller.accountId, request, async form => {
      requestState.recheck()
      const wanted = readFields(form.fields, task)
      requireServed(service, wanted)
      if (task === 'translate') requireTranslation(service)
      const facts = { filename: form.filename, contentType: 'application/octet-stream' }
      const { id } = await form.file.keep(caller.accountId, facts)
      const submitted = await submit(service, caller, { uploadId: id, wanted, task })
      return { job: startAwaited(service, submitted, request.signal), wanted }
    })
    job.ended.then(resumeTimeout)
    const patience = { quietMs: limits.answerQuietMs, beatMs: limits.answerBeatMs }
    const choice = { ...wanted, task }
    return await (wanted.stream ? replyEvents(job, choice, patience) : replyWhole(job, choice, patience))
  } catch (error) {
    resumeTimeout()
    throw error
  }
}

/** Submits a job for a form that has arrived completely. Removes the uploaded file if the job is refused. */
async function submit(
  service: Service,
  caller: Caller,
  { uploadId, wanted, task }: { uploadId: string; wanted: Wanted; task: Task },
): Promise<Job> {
  const { language, prompt, vocabulary, format } = wanted
  const submission = {
    upload_id: uploadId,
    language,
    prompt,
    vocabulary: [...vocabulary],
    diarize: format === 'diarized_json',
    translate: task === 'translate',
    // The words of a translation are not the spoken words, so they cannot be aligned with the sound.
    align: task === 'transcribe',
  }
  try {
    return submitJob(service.db, caller, submission, service.config)
  } catch (error) {
    await service.uploads.discard(uploadId)
    throw error
  }
}

/**
 * Throws if the loaded models do not support the requested language. Until a model is loaded, the languages are
 * unknown, and every language is accepted.
 */
function requireServed({ engine }: Service, { language }: Wanted): void {
  const served = engine.languages()
  if (language === null || served.length === 0 || served.includes(listedCode(language))) return
  throw new OpenAiError('INVALID_REQUEST', `No model of this service knows the language '${language}'.`, {
    param: 'language',
    reason: 'unsupported_language',
  })
}

/**
 * Throws if the loaded models cannot translate. Until a model is loaded, this is unknown, and every request is
 * accepted.
 */
function requireTranslation({ engine }: Service): void {
  if (engine.translates() !== false) return
  const { model } = engine.state()
  throw new OpenAiError('INVALID_REQUEST', `The model of this service, ${model}, cannot translate.`, {
    param: 'model',
    reason: 'unsupported_model',
  })
}
