// Makes a response body whose bytes are sent in parts while a job runs.

import { errorFields, log } from '../../base/log.ts'
import { ApiError } from '../../errors.ts'
import type { AwaitedJob } from './awaited-job.ts'
import { openAiAnswer } from './errors.ts'

type Outlet = {
  /** The first bytes of the response. Bun sends them together with the headers. */
  first: string
  beat: string
  beatMs: number
  /** Called after the first bytes are sent. `send` sends further bytes of the response. */
  begin?: (send: (text: string) => void) => void
  /**
   * Called when the job has ended or the server stops. Returns the last bytes of the response, or throws an ApiError if
   * there is no transcript.
   */
  end: () => string
  /**
   * Called if `end` throws an error. Returns the bytes that report the error. If `failed` is null, the connection is
   * aborted instead.
   */
  failed: ((error: object) => string) | null
}

export function streamOf(
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
