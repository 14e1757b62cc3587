// The schema of a transcript. The engine makes transcripts, the database stores them, and the API and the webhooks send
// them as `result`.

import { type Static, Type } from '@sinclair/typebox'
import { nullable } from '../base/schema.ts'

export const word = Type.Object(
  {
    word: Type.String(),
    start: Type.Number({ description: 'Seconds' }),
    end: Type.Number({ description: 'Seconds' }),
    confidence: nullable(Type.Number()),
    speaker: Type.Optional(Type.String({ description: 'Absent when diarize is false' })),
  },
  { $id: 'Word' },
)

export const utterance = Type.Object(
  {
    start: Type.Number({ description: 'Seconds' }),
    end: Type.Number({ description: 'Seconds' }),
    text: Type.String(),
    speaker: nullable(Type.String()),
    confidence: nullable(Type.Number()),
    words: Type.Array(word, { description: 'Empty when align is false' }),
  },
  { $id: 'Utterance' },
)

export const result = Type.Object(
  {
    full_transcript: Type.String(),
    language: Type.String(),
    duration_seconds: Type.Number(),
    speakers: nullable(Type.Array(Type.String())),
    utterances: Type.Array(utterance),
    model: Type.Optional(
      Type.String({ description: 'The model that made it; absent from a transcript of an older version' }),
    ),
    warnings: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Sentences on what may be wrong with it, empty as a rule; absent with `model`. At most one of them names the times of text that may be wrong, and at most one the times of speech without text; with separate channels, each channel has its own',
      }),
    ),
  },
  { $id: 'Result' },
)

export type Word = Static<typeof word>
export type Utterance = Static<typeof utterance>
export type Transcript = Static<typeof result>
/** A span of the recording in which one speaker talks, in seconds. Turns of two speakers can overlap. */
export type SpeakerTurn = { start: number; end: number; speaker: string }
