// What the child can find wrong with a file. It names a row; the words are ours, because whoever wrote the
// file may have taken the child over.

import { type JobErrorCode, JobFailure } from '../errors.ts'

const refusals = {
  'not-media': ['INVALID_MEDIA_FORMAT', 'The file is not audio or video that can be read.'],
  'no-audio': ['INVALID_MEDIA_FORMAT', 'The file has no audio track.'],
  'no-decoder': ['INVALID_MEDIA_FORMAT', 'The audio track is in a codec that is not supported.'],
  undecodable: ['INVALID_MEDIA_FORMAT', 'The audio track is damaged: nothing of it can be decoded.'],
  'too-large': ['INVALID_MEDIA_FORMAT', 'Reading the file takes more memory than a media file may.'],
  'too-long': ['DURATION_TOO_LONG', 'The audio is longer than the limit.'],
} as const satisfies Record<string, readonly [JobErrorCode, string]>

export type Refusal = keyof typeof refusals

/** Thrown in the child, sent as its name. */
export class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal)
  }
}

export function isRefusal(name: unknown): name is Refusal {
  return typeof name === 'string' && Object.hasOwn(refusals, name)
}

export function failureOf(refusal: Refusal): JobFailure {
  const [code, message] = refusals[refusal]
  return new JobFailure(code, message)
}
