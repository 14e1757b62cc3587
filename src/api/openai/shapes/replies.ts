// The schemas of the results and errors of OpenAI's audio API, for the OpenAPI document and for types. No response is
// validated against them.

import { Type } from '@sinclair/typebox'
import { nullable, oneOf } from '../../../base/schema.ts'

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

/** The JSON response to a transcription request. The request field `response_format` determines its schema. */
export const transcription = Type.Union([json, verboseJson, diarizedJson])

export const translation = Type.Union([json, verboseJson])

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
