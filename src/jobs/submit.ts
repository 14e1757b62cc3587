// Creates a job from the body of a request, after a check of the rules that a JSON schema cannot express.

import type { Static } from '@sinclair/typebox'
import { findAccount } from '../accounts/account.ts'
import { requireAvailable } from '../accounts/funds.ts'
import { findNewestKey } from '../accounts/key.ts'
import type { transcribeRequest } from '../api/shapes/transcribe.ts'
import type { Db } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import { findMeantLanguage, isLanguage } from '../languages.ts'
import { limits } from '../limits.ts'
import { takeUpload } from '../uploads/upload.ts'
import { createJob } from './job.ts'

/**
 * The body of the request POST /v1/transcribe. A field that is null counts as missing. Only the OpenAI-compatible
 * endpoint sets `translate`.
 */
type Submission = Static<typeof transcribeRequest> & { translate?: boolean }

/**
 * Checks the rules for which the database is not needed. Throws an ApiError if the request is invalid. The function is
 * asynchronous because `checkWebhookUrl` may resolve the host name of the webhook.
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
    throw invalid(`language is not a supported code${meant === null ? '' : `; use ${meant}`}.`)
  }
  if (speaker_count != null && !diarize) throw invalid('speaker_count needs diarize to be true.')
  if (name_speakers && !diarize) throw invalid('name_speakers needs diarize to be true.')
  for (const name of Object.keys(metadata ?? {}))
    if (name === '' || name.length > limits.metadataNameLengthMax)
      throw invalid(
        `metadata has a name that is empty or longer than ${limits.metadataNameLengthMax} characters.`,
      )
  if (channels === 'split' && diarize)
    throw invalid('channels split makes each channel a speaker; leave diarize out.')
  const refused = webhook_url == null ? null : await checkWebhookUrl(webhook_url)
  if (refused !== null) throw invalid(refused)
}

/**
 * Creates a job and returns its id. If the balance is too low or the upload cannot be used, throws an ApiError and
 * changes nothing. If the request had no API key, the newest key of the account signs the webhooks of the job.
 */
export function submitJob(
  db: Db,
  caller: { accountId: string; keyId: string | null },
  submission: Submission,
  { pricePerHourCents }: { pricePerHourCents: number },
): string {
  const { accountId } = caller
  return db.tx(() => {
    const keyId = caller.keyId ?? findNewestKey(db, accountId)?.id ?? null
    if (keyId === null && submission.webhook_url != null) {
      throw invalid('webhook_url needs an API key of the account, because the key signs the webhooks.')
    }
    requireAvailable(db, accountId, pricePerHourCents)
    const upload = submission.upload_id == null ? null : takeUpload(db, accountId, submission.upload_id)
    return createJob(db, accountId, {
      keyId,
      sourceUrl: submission.url ?? null,
      uploadId: upload?.id ?? null,
      fileBytes: upload?.fileBytes ?? null,
      language: submission.language ?? null,
      diarize: submission.diarize ?? false,
      speakerCount: submission.speaker_count ?? null,
      nameSpeakers: submission.name_speakers ?? false,
      align: submission.align ?? true,
      prompt: submission.prompt ?? null,
      vocabulary: submission.vocabulary ?? [],
      translate: submission.translate ?? false,
      splitChannels: submission.channels === 'split',
      ...(submission.metadata == null ? {} : { metadata: submission.metadata }),
      webhookUrl:
        keyId === null ? null : (submission.webhook_url ?? findAccount(db, accountId)?.webhookUrl ?? null),
    })
  })
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.hostname !== ''
}

function invalid(message: string): ApiError {
  return new ApiError('INVALID_REQUEST', message)
}
