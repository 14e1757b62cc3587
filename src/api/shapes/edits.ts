// The schemas for edits of a transcript.

import { Type } from '@sinclair/typebox'
import { record, text } from '../../base/schema.ts'
import { limits } from '../../limits.ts'
import { utterance } from '../../transcripts/transcript.ts'
import { answer, instant, uuid } from './answer-values.ts'
import { open } from './query-values.ts'
import { closed } from './request-values.ts'

export const edited = answer(
  'EditedTranscription',
  Type.Object({
    id: uuid,
    edited_at: instant('When the transcript was edited'),
    utterances: Type.Array(
      Type.Object({ ...utterance.properties, index: Type.Integer() }, { $id: 'EditedUtterance' }),
      { description: 'The utterances with a new text, and the times of their words' },
    ),
  }),
)

const editedUtterance = Type.Object(
  {
    index: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'the index in result.utterances, from 0',
    }),
    text: text({
      maxLength: limits.editedTextLengthMax,
      description: `what was said, at most ${limits.editedTextLengthMax} characters; empty for nothing`,
    }),
  },
  closed,
)

export const editRequest = Type.Object(
  {
    utterances: Type.Optional(
      Type.Array(editedUtterance, {
        maxItems: limits.editedUtterancesMax,
        description: `new texts, at most ${limits.editedUtterancesMax}; words keep their times where they stay the same`,
      }),
    ),
    speakers: Type.Optional(
      record(
        text({
          minLength: 1,
          maxLength: limits.speakerNameLengthMax,
          description: `a name on one line, at most ${limits.speakerNameLengthMax} characters`,
        }),
        {
          maxProperties: limits.objectFieldsMax,
          description: 'the new name of each speaker; two speakers may get the same name',
        },
      ),
    ),
  },
  { ...closed, $id: 'EditRequest', description: 'At least one of utterances and speakers' },
)

export const editHeaders = Type.Object(
  {
    'if-match': Type.Optional(
      Type.String({ description: 'The ETag that was read: refuses the edit when somebody else was faster' }),
    ),
  },
  open,
)
