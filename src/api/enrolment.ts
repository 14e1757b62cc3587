// Makes the voice print of a voice that an account enrols. The speech comes from an upload, or from one speaker of a
// job.

import type { Static } from '@sinclair/typebox'
import type { PrintSource, VoicePrint } from '../engine/printer.ts'
import { ApiError, JobFailure } from '../errors.ts'
import { requireOwnJob } from '../jobs/job.ts'
import { mediaPath } from '../jobs/media-files.ts'
import { findTranscript } from '../transcripts/find-transcript.ts'
import type { Utterance } from '../transcripts/transcript.ts'
import { uploadPath } from '../uploads/disk.ts'
import { takeUpload } from '../uploads/upload.ts'
import type { Service } from './service.ts'
import type * as shapes from './shapes/voices.ts'

type Enrolment = Static<typeof shapes.voiceRequest>

/**
 * Makes the voice print for an enrolment. `takeUpload` marks the upload as used, so that no other request can use it.
 * The upload is therefore useless afterwards and is deleted, even if no voice print was made.
 */
export async function printFor(
  service: Service,
  accountId: string,
  { upload_id, transcription_id, speaker }: Enrolment,
  signal: AbortSignal,
): Promise<VoicePrint> {
  const print = (source: PrintSource) =>
    service.makePrint(accountId, source, signal).catch(error => {
      if (!(error instanceof JobFailure)) throw error
      if (error.code === 'INVALID_MEDIA_FORMAT') throw new ApiError('INVALID_REQUEST', error.message)
      const again =
        upload_id === undefined ? 'try again' : 'send the file again, because its upload was deleted'
      throw new ApiError('SERVICE_UNAVAILABLE', `The print could not be made: ${again}.`)
    })
  if (upload_id !== undefined && transcription_id === undefined && speaker === undefined) {
    const { id } = takeUpload(service.db, accountId, upload_id, { forVoice: true })
    return await print({ path: uploadPath(service.config.dataDir, id), speech: null }).finally(() =>
      service.uploads.discard(id),
    )
  }
  if (upload_id !== undefined || transcription_id === undefined || speaker === undefined)
    throw new ApiError('INVALID_REQUEST', 'Give either upload_id, or transcription_id and speaker.')
  return await print(await findSpeech(service, accountId, { jobId: transcription_id, speaker }))
}

/**
 * Finds the speech of one speaker in a completed job: the media file of the job, and the spans in which this speaker
 * talks.
 */
async function findSpeech(
  { db, config }: Service,
  accountId: string,
  { jobId, speaker }: { jobId: string; speaker: string },
): Promise<PrintSource> {
  const job = requireOwnJob(db, accountId, jobId)
  if (job.state !== 'completed') throw new ApiError('CONFLICT', `The transcription is ${job.status}.`)
  const { speakers, utterances } = findTranscript(db, job.id) ?? { speakers: null, utterances: [] }
  if (!speakers?.includes(speaker)) {
    const known =
      speakers && speakers.length > 0 ? `its speakers are ${speakers.join(', ')}` : 'it has no speakers'
    throw new ApiError('INVALID_REQUEST', `speaker is not a speaker of this transcription: ${known}.`)
  }
  if (job.splitChannels)
    throw new ApiError(
      'INVALID_REQUEST',
      'A speaker of a transcription with channels split cannot be enrolled.',
    )
  const path = mediaPath(config.dataDir, job)
  if (!(await Bun.file(path).exists()))
    throw new ApiError('GONE', 'The media of this transcription is no longer kept.')
  return { path, speech: spokenBy(utterances, speaker) }
}

/** Returns the times of the utterances of a speaker, in seconds. */
function spokenBy(utterances: readonly Utterance[], label: string): { start: number; end: number }[] {
  return utterances.filter(({ speaker }) => speaker === label).map(({ start, end }) => ({ start, end }))
}
