// Creates a job in the database.

import { newId } from '../base/id.ts'
import type { Db } from '../db/db.ts'
import type { TranscribeChoices } from '../engine/request.ts'
import type { Metadata } from './job.ts'
import { defaultProgress } from './progress.ts'

export type JobRequest = TranscribeChoices & {
  keyId: string | null
  sourceUrl: string | null
  uploadId: string | null
  fileBytes: number | null
  metadata?: Metadata
  splitChannels?: boolean
  nameSpeakers?: boolean
  webhookUrl: string | null
}

/** Creates a job in the state `created`. Returns the id of the job. */
export function createJob(db: Db, accountId: string, request: JobRequest): string {
  const id = newId()
  db.run(
    `insert into jobs (id, account_id, key_id, state, state_at, source_url, upload_id, language, diarize,
       speaker_count, align, prompt, vocabulary, translate, metadata, split_channels, name_speakers,
       webhook_url, file_bytes, progress, created_at)
     values ($id, $accountId, $keyId, 'created', $uptime, $sourceUrl, $uploadId, $language, $diarize,
       $speakerCount, $align, $prompt, $vocabulary, $translate, $metadata, $splitChannels, $nameSpeakers,
       $webhookUrl, $fileBytes, $progress, $now)`,
    {
      ...request,
      id,
      accountId,
      diarize: Number(request.diarize),
      align: Number(request.align || request.diarize),
      translate: Number(request.translate ?? false),
      splitChannels: Number(request.splitChannels ?? false),
      nameSpeakers: Number(request.nameSpeakers ?? false),
      metadata: request.metadata ? JSON.stringify(request.metadata) : null,
      vocabulary: request.vocabulary.length > 0 ? JSON.stringify(request.vocabulary) : null,
      progress: defaultProgress.created,
      now: db.now(),
      uptime: db.uptime(),
    },
  )
  return id
}
