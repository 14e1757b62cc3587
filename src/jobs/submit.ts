// Creates a job from the body of a request.

import { findAccount, requireNotDeleted } from '../accounts/account.ts'
import { requireAvailable } from '../accounts/funds.ts'
import { findNewestKey } from '../accounts/key.ts'
import type { Db } from '../db/db.ts'
import { takeUpload } from '../uploads/upload.ts'
import { createJob } from './create.ts'
import { findJob, type Job } from './job.ts'
import { invalid, type Submission } from './submission.ts'

/**
 * Creates a job and returns it. If the job cannot be created, throws an ApiError and changes nothing. Without an API
 * key in the request, the account's newest key that is not revoked signs the webhooks of the job.
 */
export function submitJob(
  db: Db,
  caller: { accountId: string; keyId: string | null },
  submission: Submission,
  { pricePerHourCents }: { pricePerHourCents: number },
): Job {
  const { accountId } = caller
  return db.tx(() => {
    requireNotDeleted(db, accountId)
    const keyId = caller.keyId ?? findNewestKey(db, accountId)?.id ?? null
    if (keyId === null && submission.webhook_url != null) {
      throw invalid('Make an API key first: it signs the events that go to webhook_url.')
    }
    requireAvailable(db, accountId, pricePerHourCents)
    const upload = submission.upload_id == null ? null : takeUpload(db, accountId, submission.upload_id)
    const id = createJob(db, accountId, {
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
    const job = findJob(db, id)
    if (!job) throw new Error('the new job is not in the database')
    return job
  })
}
