import { Elysia } from 'elysia'
import type { Db } from '../../db/db.ts'
import { ApiError } from '../../errors.ts'
import { type Job, requireOwnJob } from '../../jobs/job.ts'
import { mediaPath } from '../../jobs/media-files.ts'
import { findPeaks } from '../../jobs/peaks.ts'
import { isTerminal } from '../../jobs/states.ts'
import { contentTypes, isExtension } from '../../media/formats.ts'
import { findUpload } from '../../uploads/upload.ts'
import { gate } from '../gate/gate.ts'
import { about } from '../route.ts'
import type { Service } from '../service.ts'
import { idParam } from '../shapes/job.ts'
import { mediaHeaders } from '../shapes/media.ts'
import { sendFile } from './send-file.ts'

/** The routes of the web app's media player: the media file of a job and the peaks of its waveform. */
export const media = (service: Service) =>
  new Elysia({ prefix: '/v1', tags: ['Transcriptions'] })
    .use(gate(service))

    .get(
      '/transcribe/:id/audio',
      ({ request, caller, params }) =>
        sendSource(service, requireOwnJob(service.db, caller.accountId, params.id), request),
      {
        account: 'jobs.get',
        params: idParam,
        headers: mediaHeaders,
        detail: about({
          summary: 'Get the media file of a transcription, or a part of it',
          otherBodies: {
            [unknownType]: 'The file as it came in',
            'audio/*': 'The file as it came in',
            'video/*': 'The file as it came in',
          },
          success: { status: 200, description: 'The whole file', headers: ['Accept-Ranges', 'ETag'] },
          also: {
            206: 'The part that the header Range asks for',
            304: 'The file has the ETag that the header If-None-Match names',
          },
          fails: ['TRANSCRIPTION_NOT_FOUND', 'CONFLICT', 'GONE', 'RANGE_NOT_SATISFIABLE'],
        }),
      },
    )

    .get(
      '/transcribe/:id/peaks',
      ({ caller, params }) => {
        const job = requireOwnJob(service.db, caller.accountId, params.id)
        const peaks = findPeaks(service.db, job.id)
        if (peaks) return new Response(peaks, { headers: { 'Content-Type': 'application/octet-stream' } })
        if (job.state === 'completed') throw new ApiError('GONE', 'The waveform was not kept.')
        throw new ApiError('CONFLICT', 'The waveform is there when the transcription is completed.')
      },
      {
        account: 'jobs.get',
        params: idParam,
        detail: about({
          summary: 'Get the waveform of a transcription',
          otherBodies: {
            [unknownType]: 'One byte for each 50 ms: the highest amplitude, 0 to 255',
          },
          fails: ['TRANSCRIPTION_NOT_FOUND', 'CONFLICT', 'GONE'],
        }),
      },
    )

/** Sends the media file of a job, or the part of it that the header Range requests. */
export async function sendSource({ db, config }: Service, job: Job, request: Request): Promise<Response> {
  if (job.fileBytes === null && !isTerminal(job.state))
    throw new ApiError('CONFLICT', 'The file is still being downloaded.')
  const file = Bun.file(mediaPath(config.dataDir, job))
  if (job.fileBytes === null || !(await file.exists()))
    throw new ApiError('GONE', 'The media file was removed.')
  return sendFile(file, request, {
    'Content-Type': contentTypeOf(db, job),
    ETag: `"${job.id}"`,
    'Cache-Control': 'private, no-cache',
    // A caller determines the content of the file. These headers prevent a browser from showing the file as an HTML
    // page.
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; sandbox",
  })
}

function contentTypeOf(db: Db, { uploadId, sourceUrl }: Job): string {
  if (uploadId !== null) return findUpload(db, uploadId)?.contentType ?? unknownType
  const [, extension = ''] = /\.(\w+)$/.exec(URL.parse(sourceUrl ?? '')?.pathname ?? '') ?? []
  const known = extension.toLowerCase()
  return isExtension(known) ? contentTypes[known] : unknownType
}

const unknownType = 'application/octet-stream'
