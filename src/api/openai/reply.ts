// Responses that wait for a job. During a long job, the response sends keep-alive bytes, so that no proxy closes the
// connection.

import { errorFields, log } from '../../base/log.ts'
import { ApiError } from '../../errors.ts'
import { writers } from './answers.ts'
import type { AwaitedJob } from './awaited-job.ts'
import { openAiAnswer } from './errors.ts'
import { lastEvents, TextSoFar } from './events.ts'
import type { Format, Wanted } from './fields.ts'
import type { Task } from './shapes.ts'

export type Patience = {
  /**
   * The maximum time, in milliseconds, before the response headers are sent. If the job fails within this time, the
   * response has an error status.
   */
  quietMs: number
  /** The interval at which keep-alive bytes are sent after the response headers, in milliseconds. */
  beatMs: number
}

type Choice = Wanted & { task: Task }

/**
 * For each format that allows keep-alive bytes: the first bytes of the response, and the keep-alive bytes. JSON may
 * begin with white space. A WebVTT file may have empty lines after its first line. SubRip and plain text allow no such
 * bytes.
 */
const keepAlives: Partial<Record<Format, { first: string; beat: string }>> = {
  json: { first: '', beat: ' ' },
  verbose_json: { first: '', beat: ' ' },
  diarized_json: { first: '', beat: ' ' },
  vtt: { first: 'WEBVTT\n', beat: '\n' },
}

/**
 * Returns the whole result of a job in one response. Throws an ApiError if the job fails before the headers are sent.
 */
export async function replyWhole(job: AwaitedJob, choice: Choice, patience: Patience): Promise<Response> {
  const { type, write } = writers[choice.format]
  const headers = { 'Content-Type': type }
  const keepAlive = keepAlives[choice.format]
  if (!keepAlive || (await isSoon(job.ended, patience.quietMs))) {
    await job.ended
    return new Response(write(job.transcript(), choice), { headers })
  }
  const { first, beat } = keepAlive
  const body = streamOf(job, {
    first: `${first}${beat}`,
    beat,
    beatMs: patience.beatMs,
    end: () => write(job.transcript(), choice).slice(first.length),
    failed: type === 'application/json' ? error => JSON.stringify(error) : null,
  })
  return new Response(body, { headers })
}

/** Returns a response that sends each utterance as a server-sent event while the job runs. */
export async function replyEvents(job: AwaitedJob, choice: Choice, patience: Patience): Promise<Response> {
  await isSoon(job.inspected, patience.quietMs)
  // If the job has failed, `transcript` throws the error of the job. The response then has the HTTP status of this
  // error.
  if (job.hasFailed()) job.transcript()
  const sent = new TextSoFar()
  const body = streamOf(job, {
    first: comment,
    beat: comment,
    beatMs: patience.beatMs,
    begin: send => job.onChange(() => send(sent.add(job.live.utterances))),
    end: () => lastEvents(job.transcript(), choice, sent),
    failed: error => `event: error\ndata: ${JSON.stringify(error)}\n\n`,
  })
  return new Response(body, {
    headers: {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      // This header switches off the buffering of nginx, which would delay the events.
      'X-Accel-Buffering': 'no',
    },
  })
}

/** Returns true if the promise resolves within `withinMs`, and false otherwise. */
async function isSoon(promise: Promise<void>, withinMs: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), withinMs)
  try {
    return await Promise.race([promise.then(() => true), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** A comment line in a stream of server-sent events. Clients ignore comments, so it serves as the keep-alive bytes. */
const comment = ': wait\n\n'

type Outlet = {
  /** The first bytes of the response. Bun sends them together with the headers. */
  first: string
  beat: string
  beatMs: number
  /** Called after the first bytes are sent. `send` sends further bytes of the response. */
  begin?: (send: (text: string) => void) => void
  /** Called at the end of the job. Returns the last bytes of the response. Throws an ApiError if the job has failed. */
  end: () => string
  /**
   * Called if the job has failed. Returns the bytes that report the error. If `failed` is null, the connection is
   * aborted.
   */
  failed: ((error: object) => string) | null
}

function streamOf(
  job: AwaitedJob,
  { first, beat, beatMs, begin, end, failed }: Outlet,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let timer: Timer | undefined
  let isOpen = true
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (text: string) => {
        if (isOpen && text !== '') controller.enqueue(encoder.encode(text))
      }
      send(first)
      begin?.(send)
      timer = setInterval(() => send(beat), beatMs)
      job.ended.then(() => {
        clearInterval(timer)
        if (!isOpen) return
        try {
          send(end())
        } catch (error) {
          if (!failed) return controller.error(error)
          send(failed(bodyOf(error)))
        }
        controller.close()
      })
    },
    cancel() {
      isOpen = false
      clearInterval(timer)
      job.abandon()
    },
  })
}

function bodyOf(error: unknown): object {
  if (error instanceof ApiError) return openAiAnswer(error).body
  log.error('answer failed', errorFields(error))
  return openAiAnswer(new ApiError('INTERNAL_ERROR')).body
}
