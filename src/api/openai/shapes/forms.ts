// The schemas of the forms of OpenAI's audio API. They are only for the OpenAPI document: options.ts validates the
// forms.

import { Type } from '@sinclair/typebox'
import { oneOf, text } from '../../../base/schema.ts'
import { limits } from '../../../limits.ts'

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
      Type.Array(text({ maxLength: limits.vocabularyTermLengthMax }), {
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
