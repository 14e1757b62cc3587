// The schemas of the queries of GET /v1/transcribe/{id} and GET /v1/transcribe/{id}/export.

import { Type } from '@sinclair/typebox'
import { documented, oneOf } from '../../base/schema.ts'
import { limits } from '../../limits.ts'
import { open, queryBoolean, queryInteger } from './query-values.ts'

const version = Type.Optional(
  oneOf(['current', 'original'], {
    description: 'current, or original: as the engine made it, without edits',
    default: 'current',
  }),
)

const wait = Type.Optional(queryInteger('seconds to wait for the end of the job', limits.waitSeconds))

const exportParameters = {
  version,
  max_words: Type.Optional(queryInteger('most words of a cue', limits.cueWords)),
  max_chars: Type.Optional(queryInteger('most characters of a cue', limits.cueChars)),
  max_duration: Type.Optional(queryInteger('longest cue in seconds', limits.cueSeconds)),
  sentence_aware: Type.Optional(queryBoolean('end a cue where a sentence ends', true)),
  include_speakers: Type.Optional(
    oneOf(['true', 'false', 'auto'], {
      description: 'true, false or auto: name the speakers',
      default: 'auto',
    }),
  ),
  strip_chars: Type.Optional(
    Type.String({
      description: `up to ${limits.stripCharsMax} characters to leave out`,
      ...documented({ maxLength: limits.stripCharsMax }),
    }),
  ),
  include_timestamps: Type.Optional(queryBoolean('start paragraphs with their time', false)),
  wait,
}

/** The query of GET /v1/transcribe/{id}, for every format. */
export const jobQuery = Type.Object(
  {
    format: Type.Optional(
      oneOf(['json', 'srt', 'vtt', 'text'], { description: 'json, srt, vtt or text', default: 'json' }),
    ),
    ...exportParameters,
  },
  open,
)

/** The query of GET /v1/transcribe/{id} for JSON. */
export const jobJsonQuery = Type.Object({
  format: Type.Optional(oneOf(['json'], { description: 'json', default: 'json' })),
  version,
  wait,
})

/** The query of GET /v1/transcribe/{id}/export. */
export const exportQuery = Type.Object(
  { format: oneOf(['srt', 'vtt', 'text'], { description: 'srt, vtt or text' }), ...exportParameters },
  open,
)
