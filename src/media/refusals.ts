// The reasons for which the child can refuse a file. It sends only a name: a hostile file may have taken the child
// over, so the texts come from here.

import { type JobErrorCode, JobFailure } from '../errors.ts'

/** A row without a message has the one of its code. */
const refusals = {
  'not-media': { code: 'INVALID_MEDIA_FORMAT' },
  'no-audio': { code: 'INVALID_MEDIA_FORMAT', message: 'The file has no audio track.' },
  'no-decoder': {
    code: 'INVALID_MEDIA_FORMAT',
    message: 'The audio track is in a codec that is not supported.',
  },
  undecodable: {
    code: 'INVALID_MEDIA_FORMAT',
    message: 'The audio track is damaged: nothing of it can be decoded.',
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
  const { code, message }: { code: JobErrorCode; message?: string } = refusals[refusal]
  return new JobFailure(code, message)
}
