// The schemas of the enrolled voices.

import { Type } from '@sinclair/typebox'
import { text } from '../../base/schema.ts'
import { limits } from '../../limits.ts'
import { answer, checkedInTests, instant, uuid } from './answer-values.ts'
import { closed, uuidFormat } from './request-values.ts'

/**
 * Matches the label of a speaker in any case, such as `Speaker 1` in exports. A pattern in JSON Schema cannot ignore
 * case by a flag.
 */
const label = '[Ss][Pp][Ee][Aa][Kk][Ee][Rr]\\s+\\d+'

const voiceFields = Type.Object(
  {
    id: uuid,
    name: Type.String(),
    model: Type.String({ description: 'The voice model; prints of two models are not compared' }),
    speech_seconds: Type.Number({ description: 'How much speech the print is made of' }),
    created_at: instant('When it was enrolled'),
    used_at: instant('When it last named a speaker, or was enrolled'),
  },
  { $id: 'Voice' },
)

export const voice = checkedInTests(voiceFields)

export const voices = answer('Voices', Type.Object({ items: Type.Array(voiceFields) }))

export const voiceRequest = Type.Object(
  {
    name: text({
      minLength: 1,
      maxLength: limits.speakerNameLengthMax,
      description: `a name of at most ${limits.speakerNameLengthMax} characters, without line breaks and -->, without white space at its start and end, and not a label such as SPEAKER 1 or Speaker 1`,
      pattern: `^(?!\\s|.*\\s$|.*-->|${label}$)[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]+$`,
    }),
    upload_id: Type.Optional(
      Type.String({ description: 'the id of an upload in which one person speaks', ...uuidFormat }),
    ),
    transcription_id: Type.Optional(
      Type.String({ description: 'the id of a completed transcription with diarize', ...uuidFormat }),
    ),
    speaker: Type.Optional(
      text({
        maxLength: limits.speakerNameLengthMax,
        description: 'the speaker of that transcription, such as SPEAKER 1',
      }),
    ),
  },
  { ...closed, $id: 'VoiceRequest', description: 'Either upload_id, or transcription_id and speaker' },
)

export const voiceParam = Type.Object({
  id: Type.String({ description: 'The id of the voice', ...uuidFormat }),
})
