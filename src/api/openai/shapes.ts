// The schemas of OpenAI's audio API. They are only for the OpenAPI document: the forms are validated in fields.ts.

import { Type } from '@sinclair/typebox'
import { nullable, oneOf } from '../../base/schema.ts'
import { limits } from '../../limits.ts'

export const granularities = ['word', 'segment'] as const
export const includes = ['logprobs'] as const

/** The tasks of OpenAI's audio endpoints, with the response formats of each task. */
export const tasks = {
  transcribe: { formats: ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'] },
  translate: { formats: ['json', 'text', 'srt', 'verbose_json', 'vtt'] },
} as const

export type Task = keyof typeof tasks

const common = {
  file: Type.Unsafe<Blob>({
    type: 'string',
    format: 'binary',
    description: 'The recording, in any format that steno reads; at any place in the form',
  }),
  model: Type.String({
    minLength: 1,
    description: 'Any name: the model that the service runs is used, whatever the name',
    examples: ['whisper-1'],
  }),
  prompt: Type.Optional(
    Type.String({
      description: `Text as it could stand before the recording; the last ${limits.promptLengthMax} characters count`,
    }),
  ),
  temperature: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'Accepted, without effect: steno decides itself' }),
  ),
}

const vad = Type.Object({
  type: Type.Literal('server_vad'),
  threshold: Type.Optional(Type.Number()),
  prefix_padding_ms: Type.Optional(Type.Integer()),
  silence_duration_ms: Type.Optional(Type.Integer()),
})

export const transcriptionForm = Type.Object(
  {
    ...common,
    response_format: Type.Optional(oneOf(tasks.transcribe.formats, { default: 'json' })),
    language: Type.Optional(Type.String({ description: 'A language code; detected when it is not given' })),
    'languages[]': Type.Optional(
      Type.Array(Type.String(), { description: 'One code has the meaning of `language`; several are hints' }),
    ),
    'keywords[]': Type.Optional(
      Type.Array(Type.String({ maxLength: limits.vocabularyTermLengthMax }), {
        maxItems: limits.vocabularyTermsMax,
        description: 'Terms that may be said',
      }),
    ),
    'timestamp_granularities[]': Type.Optional(
      Type.Array(oneOf(granularities), {
        description: 'Only with verbose_json; segment when it is not given',
      }),
    ),
    'include[]': Type.Optional(
      Type.Array(oneOf(includes), { description: 'logprobs: the probability of each word, with json' }),
    ),
    stream: Type.Optional(Type.Boolean({ description: 'Answer with server-sent events' })),
    chunking_strategy: Type.Optional(
      Type.Union([Type.Literal('auto'), vad], {
        description: 'Accepted, without effect: steno always cuts at pauses',
      }),
    ),
  },
  { $id: 'OpenAiTranscriptionForm' },
)

export const translationForm = Type.Object(
  {
    ...common,
    response_format: Type.Optional(oneOf(tasks.translate.formats, { default: 'json' })),
  },
  { $id: 'OpenAiTranslationForm' },
)

const usage = Type.Object({
  type: Type.Literal('duration'),
  seconds: Type.Integer({ description: 'The seconds that are charged' }),
})

const logprob = Type.Object({
  token: Type.String({ description: 'A word with the space before it' }),
  bytes: Type.Array(Type.Integer()),
  logprob: Type.Number(),
})

export const json = Type.Object(
  {
    text: Type.String(),
    languages: Type.Array(Type.Object({ code: Type.String() })),
    logprobs: Type.Optional(Type.Array(logprob)),
    usage,
  },
  { $id: 'OpenAiTranscription' },
)

const segment = Type.Object({
  id: Type.Integer(),
  seek: Type.Integer(),
  start: Type.Number(),
  end: Type.Number(),
  text: Type.String(),
  tokens: Type.Array(Type.Integer()),
  temperature: Type.Number(),
  avg_logprob: Type.Number(),
  compression_ratio: Type.Number(),
  no_speech_prob: Type.Number(),
})

const word = Type.Object({ word: Type.String(), start: Type.Number(), end: Type.Number() })

export const verboseJson = Type.Object(
  {
    task: oneOf(['transcribe', 'translate']),
    language: Type.String({ description: 'The English name of the language' }),
    duration: Type.Number(),
    text: Type.String(),
    segments: Type.Optional(Type.Array(segment)),
    words: Type.Optional(Type.Array(word)),
    usage,
  },
  { $id: 'OpenAiVerboseTranscription' },
)

const diarizedSegment = Type.Object({
  type: Type.Literal('transcript.text.segment'),
  id: Type.String(),
  start: Type.Number(),
  end: Type.Number(),
  speaker: Type.String({ description: 'A, B, C and so on' }),
  text: Type.String(),
})

export const diarizedJson = Type.Object(
  {
    task: Type.Literal('transcribe'),
    duration: Type.Number(),
    text: Type.String(),
    segments: Type.Array(diarizedSegment),
    usage,
  },
  { $id: 'OpenAiDiarizedTranscription' },
)

/**
 * The response to a transcription request. The field `response_format` of the request determines which of the three
 * schemas the response has.
 */
export const transcription = Type.Union([json, verboseJson, diarizedJson])

/** The response to a translation request. */
export const translation = Type.Union([json, verboseJson])

export const model = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('model'),
    created: Type.Integer({ description: 'Unix time since which this process offers the model' }),
    owned_by: Type.String(),
  },
  { $id: 'OpenAiModel' },
)

export const modelList = Type.Object(
  { object: Type.Literal('list'), data: Type.Array(model) },
  { $id: 'OpenAiModelList' },
)

export const modelParam = Type.Object({ id: Type.String({ description: 'The id of the model' }) })

export const openAiError = Type.Object(
  {
    error: Type.Object({
      message: Type.String(),
      type: Type.String(),
      param: nullable(Type.String({ description: 'The field of the form that is not valid' })),
      code: nullable(Type.String()),
    }),
  },
  { $id: 'OpenAiError' },
)
