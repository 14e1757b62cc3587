// The schemas of the search in transcripts.

import { Type } from '@sinclair/typebox'
import { nullable, oneOf } from '../../base/schema.ts'
import { limits } from '../../limits.ts'
import { answer, instant, uuid } from './answer-values.ts'
import { open, queryInteger } from './query-values.ts'

export const searchHit = Type.Object(
  {
    transcription_id: uuid,
    filename: nullable(Type.String({ description: 'Of the upload; null for a job that was given a url' })),
    source_url: Type.Optional(
      Type.String({
        description: 'Only on jobs that were given a url; without the user name and the password of this url',
      }),
    ),
    created_at: instant('When the job was accepted'),
    utterance: Type.Integer({ description: 'Index in result.utterances, from 0' }),
    start: Type.Number({ description: 'Seconds' }),
    end: Type.Number({ description: 'Seconds' }),
    speaker: nullable(Type.String()),
    text: Type.String(),
    matches: Type.Array(
      Type.Object({
        from: Type.Integer({ description: 'Where it begins in text, in UTF-16 code units' }),
        to: Type.Integer({ description: 'Where it ends in text, in UTF-16 code units' }),
        start: Type.Number({ description: 'Seconds; of the utterance when align is false' }),
        end: Type.Number({ description: 'Seconds; of the utterance when align is false' }),
      }),
      { description: 'What the query found in text' },
    ),
  },
  { $id: 'SearchHit' },
)

export const searchPage = answer(
  'SearchPage',
  Type.Object({ items: Type.Array(searchHit), next_cursor: nullable(Type.String()) }),
)

export const searchQuery = Type.Object(
  {
    q: Type.String({ description: 'words to find; words in double quotes must follow each other' }),
    order: Type.Optional(
      oneOf(['newest', 'best'], {
        description: `newest, or best: the best matches of the newest ${limits.searchRankedMax} utterances`,
        default: 'newest',
      }),
    ),
    limit: Type.Optional(
      queryInteger('page size', {
        min: 1,
        max: limits.searchPageSizeMax,
        default: limits.searchPageSizeDefault,
      }),
    ),
    cursor: Type.Optional(Type.String({ description: 'next_cursor of the page before, with the same q' })),
  },
  open,
)
