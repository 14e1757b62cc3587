// Responses that wait for a job. Keep-alive bytes prevent proxies from closing the connection during a long job.

import { eventStreamHeaders, unbuffered } from '../stream-headers.ts'
import { writers } from './answers.ts'
import type { AwaitedJob } from './awaited-job.ts'
import { lastEvents, TextSoFar } from './events.ts'
import { streamOf } from './job-stream.ts'
import type { Format, Wanted } from './options.ts'
import type { Task } from './shapes/forms.ts'

export type Patience = {
  /**
   * The time, in milliseconds, for which a response waits for the job before its headers are sent. If the job fails
   * during this time, the response gets an error status. `replyWhole` waits without this limit if the format allows no
   * keep-alive bytes.
   */
  quietMs: number
  /** The interval at which keep-alive bytes are sent after the response headers, in milliseconds. */
  beatMs: number
}

type Choice = Wanted & { task: Task }

/**
 * The first bytes of the response and the keep-alive bytes, for each format that allows them. JSON may begin with white
 * space. WebVTT may have empty lines after its first line.
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
  return new Response(body, { headers: { ...headers, ...unbuffered } })
}

/** Returns a response that sends each utterance as a server-sent event while the job runs. */
export async function replyEvents(job: AwaitedJob, choice: Choice, patience: Patience): Promise<Response> {
  await isSoon(job.inspected, patience.quietMs)
  // `transcript` throws an error if the job has failed or the server stops. No byte is sent yet, so the response gets
  // the HTTP status of the error.
  if (job.hasFailed()) job.transcript()
  const sent = new TextSoFar()
  const body = streamOf(job, {
    first: comment,
    beat: comment,
    beatMs: patience.beatMs,
    begin: send => job.onChange(() => send(sent.add(job.live))),
    end: () => lastEvents(job.transcript(), choice, sent),
    failed: error => `event: error\ndata: ${JSON.stringify(error)}\n\n`,
  })
  return new Response(body, { headers: eventStreamHeaders })
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

/**
 * A comment line in a stream of server-sent events. Clients ignore comments, so this line keeps the connection alive.
 */
const comment = ': wait\n\n'
