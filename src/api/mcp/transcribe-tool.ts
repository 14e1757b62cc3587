// The MCP tool that transcribes the recording at a web address.

import { Type } from '@sinclair/typebox'
import { text } from '../../base/schema.ts'
import { checkSubmission } from '../../jobs/submission.ts'
import { submitJob } from '../../jobs/submit.ts'
import { limits } from '../../limits.ts'
import { closed } from '../shapes/request-values.ts'
import { readTranscript, waitForEnd } from './reading.ts'
import { type ToolContext, tool } from './tool.ts'

export const transcribeUrl = tool({
  title: 'Transcribe a recording',
  description:
    `Transcribes the audio or video file at a web address. Waits up to ${limits.toolWaitMs / 1000} seconds; when the transcription takes ` +
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
        text({
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
})

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
  const job = submitJob(service.db, caller, submission, service.config)
  await service.db.durable()
  service.runner.start(job)
  await waitForEnd(context, job.id)
  return readTranscript(context, job.id, { page: 1, format: 'text' })
}
