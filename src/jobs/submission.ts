// The body of a request for a transcription, and the rules for it that a JSON schema cannot express.

import type { Static } from '@sinclair/typebox'
import type { transcribeRequest } from '../api/shapes/transcribe.ts'
import { ApiError } from '../errors.ts'
import { findMeantLanguage, isLanguage } from '../languages.ts'
import { limits } from '../limits.ts'
import type { Job } from './job.ts'

/**
 * The body of the request POST /v1/transcribe. A field that is null counts as missing. Only the OpenAI-compatible
 * endpoint sets `translate`.
 */
export type Submission = Static<typeof transcribeRequest> & { translate?: boolean }

/**
 * Checks the rules that a JSON schema cannot express, and that need no data from the database. Throws an ApiError for a
 * broken rule. `checkWebhookUrl` may resolve the host name of the webhook.
 */
export async function checkSubmission(
  submission: Submission,
  checkWebhookUrl: (url: string) => Promise<string | null>,
): Promise<void> {
  const { url, upload_id, language, diarize, speaker_count, name_speakers, metadata, channels, webhook_url } =
    submission
  if ((url == null) === (upload_id == null)) throw invalid('Give exactly one of url and upload_id.')
  if (url != null && !isHttpUrl(url)) throw invalid('url is not a valid http or https address.')
  if (language != null && !isLanguage(language)) {
    const meant = findMeantLanguage(language)
    const hint = meant === null ? 'GET /v1 lists them; without language it is detected' : `use ${meant}`
    throw invalid(`language is not a supported code; ${hint}.`)
  }
  if (speaker_count != null && !diarize) throw invalid('speaker_count needs diarize to be true.')
  if (name_speakers && !diarize) throw invalid('name_speakers needs diarize to be true.')
  for (const name of Object.keys(metadata ?? {}))
    if (name === '' || [...name].length > limits.metadataNameLengthMax)
      throw invalid(
        `metadata has a name that is empty or longer than ${limits.metadataNameLengthMax} characters.`,
      )
  if (channels === 'split' && diarize)
    throw invalid('channels split makes each channel a speaker; leave diarize out.')
  const refused = webhook_url == null ? null : await checkWebhookUrl(webhook_url)
  if (refused !== null) throw invalid(refused)
}

/**
 * Returns a request that submits a job again. POST /v1/transcribe has no field `translate`, so a job with a translation
 * would become a job without one. But the web app submits only jobs with a web address again, and these jobs never
 * have a translation.
 */
export function submissionOf(job: Job): Static<typeof transcribeRequest> {
  return {
    url: job.sourceUrl,
    upload_id: job.uploadId,
    language: job.language,
    diarize: job.diarize,
    speaker_count: job.speakerCount,
    name_speakers: job.nameSpeakers,
    align: job.align,
    prompt: job.prompt,
    vocabulary: [...job.vocabulary],
    channels: job.splitChannels ? 'split' : 'mix',
    metadata: job.metadata,
    webhook_url: job.webhookUrl,
  }
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol)
}

export function invalid(message: string): ApiError {
  return new ApiError('INVALID_REQUEST', message)
}
