import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { withoutPassword } from '../../base/visible.ts'
import { searchUtterances } from '../../jobs/search.ts'
import type { Hit } from '../../jobs/search-hits.ts'
import { readCursor, writeCursor } from '../cursor.ts'
import { gate } from '../gate/gate.ts'
import { about } from '../route.ts'
import type { Service } from '../service.ts'
import * as shapes from '../shapes/search.ts'
import { timestamp } from './job-json.ts'
import { answerJson } from './large-answers.ts'

export const search = (service: Service) =>
  new Elysia({ prefix: '/v1', tags: ['Transcriptions'] })
    .use(gate(service))

    .get(
      '/search',
      ({ request, requestState, caller, query }) =>
        answerJson({ request, requestState, caller }, () => hitsOf(service, caller.accountId, query)),
      {
        account: 'search',
        query: shapes.searchQuery,
        detail: about({
          answer: shapes.searchPage,
          summary: 'Search what was said, in all transcripts',
          description:
            'Finds utterances that contain all words of `q`. Words in double quotes must follow each other. ' +
            'Case, accents and punctuation make no difference.',
          fails: ['INVALID_REQUEST'],
        }),
      },
    )

/** Returns one page of the utterances that match a query, from all transcripts of an account. */
export function hitsOf(
  { db, secrets }: Service,
  accountId: string,
  { q, order = 'newest', limit, cursor }: Static<typeof shapes.searchQuery>,
): Static<typeof shapes.searchPage> {
  const list = ['search', accountId, q, order]
  const { hits, next } = searchUtterances(db, accountId, {
    query: q,
    order,
    ...(limit === undefined ? {} : { limit }),
    after: cursor === undefined ? null : readCursor(secrets, list, cursor),
  })
  return {
    items: hits.map(hitJson),
    next_cursor: next && writeCursor(secrets, list, next),
  }
}

function hitJson({
  jobId,
  filename,
  sourceUrl,
  createdAt,
  index,
  utterance,
  matches,
}: Hit): Static<typeof shapes.searchHit> {
  const { start, end, speaker, text } = utterance
  return {
    transcription_id: jobId,
    filename,
    ...(sourceUrl === null ? {} : { source_url: withoutPassword(sourceUrl) }),
    created_at: timestamp(createdAt),
    utterance: index,
    start,
    end,
    speaker,
    text,
    matches,
  }
}
