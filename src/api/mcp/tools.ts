// The tools of the MCP endpoint. Each tool returns a text for the assistant.

import { Type } from '@sinclair/typebox'
import { oneOf } from '../../base/schema.ts'
import { jobStates } from '../../jobs/states.ts'
import { checkSubmission, submitJob } from '../../jobs/submit.ts'
import { limits } from '../../limits.ts'
import { hitsOf } from '../search.ts'
import { pageOf } from '../transcriptions.ts'
import { clock, describeJob, readTranscript, waitForEnd } from './reading.ts'
import { type ToolContext, tool } from './tool.ts'

const closed = { additionalProperties: false }
const limit = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: limits.toolItemsMax,
    default: limits.toolItemsDefault,
    description: `a number of items from 1 to ${limits.toolItemsMax}`,
  }),
)
const cursor = Type.Optional(Type.String({ description: 'the cursor that the page before named' }))

export const tools = {
  transcribe_url: tool({
    title: 'Transcribe a recording',
    description:
      'Transcribes the audio or video file at a web address. Waits up to 45 seconds; when the transcription takes ' +
      'longer, the answer has an id, and get_transcript waits for the rest. It is charged by the length of the recording.',
    input: Type.Object(
      {
        url: Type.String({
          minLength: 1,
          maxLength: limits.urlLengthMax,
          description: 'the http or https address of an audio or video file',
        }),
        language: Type.Optional(
          Type.String({
            description: 'a language code such as en or de; leave it out to detect the language',
          }),
        ),
        diarize: Type.Optional(Type.Boolean({ description: 'true to tell the speakers apart, or false' })),
        speaker_count: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: limits.speakerCountMax,
            description: `the number of speakers from 1 to ${limits.speakerCountMax}, together with diarize`,
          }),
        ),
        prompt: Type.Optional(
          Type.String({
            maxLength: limits.promptLengthMax,
            description: `names and terms that may be said, at most ${limits.promptLengthMax} characters`,
          }),
        ),
      },
      closed,
    ),
    changes: true,
    rate: 'jobs.create',
    run: transcribe,
  }),

  get_transcript: tool({
    title: 'Read a transcript',
    description:
      'Reads the transcript of a recording, in pages. Waits up to 45 seconds for a transcription that still runs.',
    input: Type.Object(
      {
        id: Type.String({ description: 'the id of a transcription, from another tool' }),
        page: Type.Optional(
          Type.Integer({ minimum: 1, default: 1, description: 'the number of a page, from 1' }),
        ),
        format: Type.Optional(
          oneOf(['text', 'srt', 'vtt'], {
            default: 'text',
            description: 'text (paragraphs with times and speakers), srt or vtt (subtitles)',
          }),
        ),
      },
      closed,
    ),
    changes: false,
    rate: 'jobs.get',
    async run(context, { id, page = 1, format = 'text' }) {
      await waitForEnd(context, id)
      return readTranscript(context, id, { page, format })
    },
  }),

  search_transcripts: tool({
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
        ({ transcription_id, filename, source_url, created_at, start, speaker, text }) =>
          `${transcription_id} [${clock(start)}] ${speaker ? `${speaker}: ` : ''}${text}\n` +
          `  from ${filename ?? source_url ?? 'a recording'}, ${created_at.slice(0, 10)}`,
      )
      return listed(lines, next_cursor, `Nothing was found for ${JSON.stringify(query)}. Try fewer words.`)
    },
  }),

  list_transcripts: tool({
    title: 'List transcriptions',
    description:
      'Lists the transcriptions of the account, newest first, with their state, length and language.',
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
      const filter = { state: status, fromMs: null, toMs: null, order: 'desc' } as const
      const { items, next_cursor } = pageOf(service, caller.accountId, filter, options)
      const empty = status === null ? 'There is no transcription yet.' : `No transcription is ${status}.`
      return listed(items.map(describeJob), next_cursor, empty)
    },
  }),
}

type Transcribe = {
  url: string
  language?: string
  diarize?: boolean
  speaker_count?: number
  prompt?: string
}

async function transcribe(context: ToolContext, submission: Transcribe): Promise<string> {
  const { service, caller } = context
  await checkSubmission(submission, () => Promise.resolve(null))
  service.uploads.requireRoom(caller.accountId)
  const id = submitJob(service.db, caller, submission, service.config)
  await service.db.durable()
  service.runner.start(id)
  await waitForEnd(context, id)
  return readTranscript(context, id, { page: 1, format: 'text' })
}

function listed(lines: string[], nextCursor: string | null, empty: string): string {
  if (lines.length === 0) return empty
  return [...lines, ...(nextCursor ? [`There is more: call again with cursor ${nextCursor}`] : [])].join('\n')
}
