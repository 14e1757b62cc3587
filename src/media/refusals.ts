// The reasons for which the media program refuses a media file. The media program sends only the name of a reason. It
// must not choose the message, because a hostile file may have taken control of it.

import { type JobErrorCode, JobFailure } from '../errors.ts'

/**
 * The error code and the message for each reason. A reason without a message has the default message of its error code.
 */
const refusals = {
  'not-media': { code: 'INVALID_MEDIA_FORMAT' },
  'no-index': {
    code: 'INVALID_MEDIA_FORMAT',
    message:
      'The MP4 file is incomplete: its index (moov) is missing. This happens if the recording or a copy is interrupted. ' +
      'Copy the file again, or repair it.',
  },
  'no-audio': { code: 'INVALID_MEDIA_FORMAT', message: 'The file has no audio track.' },
  'no-decoder': {
    code: 'INVALID_MEDIA_FORMAT',
    message: 'The audio track is in a codec that is not supported.',
  },
  encrypted: {
    code: 'INVALID_MEDIA_FORMAT',
    message: 'The audio track is encrypted (DRM), so it cannot be read.',
  },
  compressed: {
    code: 'INVALID_MEDIA_FORMAT',
    message:
      'The packets of the audio track are compressed a second time, which is not supported. ' +
      'Copy the file with mkvmerge --compression -1:none.',
  },
  undecodable: {
    code: 'INVALID_MEDIA_FORMAT',
    message: 'The audio track is damaged: nothing of it can be decoded.',
  },
  'too-many-channels': {
    code: 'INVALID_MEDIA_FORMAT',
    message: 'The audio track has more than 64 channels, which is not supported.',
  },
  'too-large': {
    code: 'INVALID_MEDIA_FORMAT',
    message: 'Reading the file takes more memory than a media file may.',
  },
  'too-slow': {
    code: 'INVALID_MEDIA_FORMAT',
    message: 'Reading the file takes more time than a media file may.',
  },
  'too-long': { code: 'DURATION_TOO_LONG' },
} satisfies Record<string, { code: JobErrorCode; message?: string }>

export type Refusal = keyof typeof refusals

export function isRefusal(name: unknown): name is Refusal {
  return typeof name === 'string' && Object.hasOwn(refusals, name)
}

export function failureOf(refusal: Refusal): JobFailure {
  const { code, message }: { code: JobErrorCode; message?: string } = refusals[refusal]
  return new JobFailure(code, message)
}
