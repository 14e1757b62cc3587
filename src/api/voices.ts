// The routes with which an account enrols, lists and deletes voices. Each voice has a name.

import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { deleteVoice, enrolVoice, listVoices, requireNewName, type Voice } from '../accounts/voice.ts'
import type { PrintSource, VoicePrint } from '../engine/printer.ts'
import { ApiError, JobFailure } from '../errors.ts'
import { findOwnJob } from '../jobs/job.ts'
import { mediaPath } from '../jobs/media-files.ts'
import { findTranscript } from '../transcripts/store.ts'
import type { Utterance } from '../transcripts/transcript.ts'
import { uploadPath } from '../uploads/disk.ts'
import { takeUpload } from '../uploads/upload.ts'
import { gate } from './gate.ts'
import { timestamp } from './job-json.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'
import * as shapes from './shapes/voices.ts'

type Enrolment = Static<typeof shapes.voiceRequest>

export const voices = (service: Service) =>
  new Elysia({ prefix: '/v1', tags: ['Voices'] })
    .use(gate(service))

    .post(
      '/voices',
      async ({ request, server, caller: { accountId }, body }) => {
        requireNewName(service.db, accountId, body.name)
        // Switches off Bun's idle timeout, because making a voice print may wait until other voice prints are made.
        server?.timeout(request, 0)
        const print = await printFor(service, accountId, body, request.signal)
        return voiceJson(enrolVoice(service.db, service.secrets, accountId, { name: body.name, ...print }))
      },
      {
        edit: 'voices',
        body: shapes.voiceRequest,
        response: { 200: shapes.voice },
        detail: about({
          summary: 'Enrol a voice by name',
          description:
            'From an upload in which one person speaks, or from a speaker of a completed transcription whose media is still kept. The upload is deleted at once. A voice print is biometric data: enrol only people who agreed. Jobs with `name_speakers` compare their speakers with it, no other job does.',
          fails: [
            'FILE_NOT_UPLOADED',
            'FILE_TOO_LARGE',
            'UPLOAD_ALREADY_USED',
            'UPLOAD_EXPIRED',
            'UPLOAD_NOT_FOUND',
            'TRANSCRIPTION_NOT_FOUND',
            'CONFLICT',
            'GONE',
          ],
        }),
      },
    )

    .get('/voices', ({ caller }) => ({ items: listVoices(service.db, caller.accountId).map(voiceJson) }), {
      account: 'voices',
      response: { 200: shapes.voices },
      detail: about({ summary: 'List the enrolled voices' }),
    })

    .delete(
      '/voices/:id',
      ({ caller, params }) => {
        if (!deleteVoice(service.db, caller.accountId, params.id)) throw new ApiError('VOICE_NOT_FOUND')
        return new Response(null, { status: 204 })
      },
      {
        account: 'voices',
        params: shapes.voiceParam,
        detail: about({
          summary: 'Delete a voice and its print',
          description: 'Transcripts that were made before keep the name.',
          success: { status: 204, description: 'Deleted' },
          fails: ['VOICE_NOT_FOUND'],
        }),
      },
    )

/**
 * Makes the voice print for an enrolment. If the speech is an upload, the upload is deleted afterwards, even if no
 * voice print was made.
 */
async function printFor(
  service: Service,
  accountId: string,
  { upload_id, transcription_id, speaker }: Enrolment,
  signal: AbortSignal,
): Promise<VoicePrint> {
  const print = (source: PrintSource) =>
    service.makePrint(accountId, source, signal).catch(error => {
      if (!(error instanceof JobFailure)) throw error
      if (error.code === 'INVALID_MEDIA_FORMAT') throw new ApiError('INVALID_REQUEST', error.message)
      throw new ApiError('SERVICE_UNAVAILABLE', 'The print could not be made; it is safe to try again.')
    })
  if (upload_id !== undefined && transcription_id === undefined && speaker === undefined) {
    const { id } = takeUpload(service.db, accountId, upload_id)
    return await print({ path: uploadPath(service.config.dataDir, id), speech: null }).finally(() =>
      service.uploads.discard(id),
    )
  }
  if (upload_id !== undefined || transcription_id === undefined || speaker === undefined)
    throw new ApiError('INVALID_REQUEST', 'Give either upload_id, or transcription_id and speaker.')
  return await print(await findSpeech(service, accountId, { jobId: transcription_id, speaker }))
}

/** Returns the media file of a completed job, and the spans in which the speaker talks. */
async function findSpeech(
  { db, config }: Service,
  accountId: string,
  { jobId, speaker }: { jobId: string; speaker: string },
): Promise<PrintSource> {
  const job = findOwnJob(db, accountId, jobId)
  if (!job) throw new ApiError('TRANSCRIPTION_NOT_FOUND')
  if (job.state !== 'completed') throw new ApiError('CONFLICT', `The transcription is ${job.state}.`)
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

function voiceJson({ id, name, model, seconds, createdAt, usedAt }: Voice): Static<typeof shapes.voice> {
  return {
    id,
    name,
    model,
    speech_seconds: seconds,
    created_at: timestamp(createdAt),
    used_at: timestamp(usedAt),
  }
}

/** Returns the times of the utterances of a speaker, in seconds. */
function spokenBy(utterances: readonly Utterance[], label: string): { start: number; end: number }[] {
  return utterances.filter(({ speaker }) => speaker === label).map(({ start, end }) => ({ start, end }))
}
