// The MCP tools that search and list transcriptions.

import { Type } from '@sinclair/typebox'
import { oneOf } from '../../base/schema.ts'
import { formatClock } from '../../base/units.ts'
import { jobStates } from '../../jobs/states.ts'
import { limits } from '../../limits.ts'
import { hitsOf } from '../jobs/search.ts'
import { pageOf } from '../jobs/transcriptions.ts'
import { closed } from '../shapes/request-values.ts'
import { describeJob, sourceOf } from './describe.ts'
import { tool } from './tool.ts'

const limit = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: limits.toolItemsMax,
    default: limits.toolItemsDefault,
    description: `a number of items from 1 to ${limits.toolItemsMax}`,
  }),
)
const cursor = Type.Optional(Type.String({ description: 'the cursor that the page before named' }))

export const searchTranscripts = tool({
  title: 'Search all transcripts',
  description:
    'Finds what was said in all transcripts. All words must be in one utterance; words in double quotes must ' +
    'follow each other. The answer has the time, the speaker, the text and the id of each transcription.',
  input: Type.Object(
    {
      query: Type.String({ description: 'the words to find' }),
      order: Type.Optional(
        oneOf(['newest', 'best'], {
          default: 'newest',
          description: 'newest first, or best matches first',
        }),
      ),
      limit,
      cursor,
    },
    closed,
  ),
  changes: false,
  rate: 'search',
  run({ service, caller }, { query, ...options }) {
    const { items, next_cursor } = hitsOf(service, caller.accountId, { q: query, ...options })
    const lines = items.map(
      ({ transcription_id, created_at, start, speaker, text, ...source }) =>
        `${transcription_id} [${formatClock(start)}] ${speaker ? `${speaker}: ` : ''}${text}\n` +
        `  from ${sourceOf(source)}, ${created_at.slice(0, 10)}`,
    )
    return listed(lines, next_cursor, `Nothing was found for ${JSON.stringify(query)}. Try fewer words.`)
  },
})

export const listTranscripts = tool({
  title: 'List transcriptions',
  description:
    'Lists the transcriptions of the account, newest first, with their state, length, language and file.',
  input: Type.Object(
    {
      status: Type.Optional(oneOf(jobStates, { description: `one of ${jobStates.join(', ')}` })),
      limit,
      cursor,
    },
    closed,
  ),
  changes: false,
  rate: 'jobs.list',
  run({ service, caller }, { status = null, ...options }) {
    const filter = { status, fromMs: null, toMs: null, order: 'desc' } as const
    const { items, next_cursor } = pageOf(service, caller.accountId, filter, options)
    const empty = status === null ? 'There is no transcription yet.' : `No transcription is ${status}.`
    return listed(items.map(describeJob), next_cursor, empty)
  },
})

function listed(lines: string[], nextCursor: string | null, empty: string): string {
  if (lines.length === 0) return empty
  return [...lines, ...(nextCursor ? [`There is more: call again with cursor ${nextCursor}`] : [])].join('\n')
}
