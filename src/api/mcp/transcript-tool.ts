// The MCP tool that reads a transcript.

import { Type } from '@sinclair/typebox'
import { oneOf } from '../../base/schema.ts'
import { limits } from '../../limits.ts'
import { closed } from '../shapes/request-values.ts'
import { readTranscript, waitForEnd } from './reading.ts'
import { tool } from './tool.ts'

export const getTranscript = tool({
  title: 'Read a transcript',
  description: `Reads the transcript of a recording, in pages. Waits up to ${limits.toolWaitMs / 1000} seconds for a transcription that still runs.`,
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
})
