// Callers that submit and cancel jobs while faults happen on the server. A caller repeats a request if the connection
// fails, or if the response reports a temporary error (see `passing`).

import { speech } from '../../../test/support/media.ts'
import type { Random } from '../../../test/support/random.ts'

export type Callers = {
  /** The ids of all jobs whose submission was answered with the status 200. */
  accepted: Set<string>
  /** The ids of all jobs whose cancellation was answered with the status 200. */
  cancelled: Set<string>
  /** Descriptions of wrong responses. The expected responses to a fault, such as a full disk, are not wrong. */
  wrong: string[]
  /** Stops the callers. Resolves when each caller has its last response, or when the signal `giveUp` is aborted. */
  stop(): Promise<void>
}

type Place = { url: string; key: string; webhookUrl: string; mediaUrl: string; giveUp: AbortSignal }
// biome-ignore lint/suspicious/noExplicitAny: the body of a response may have any shape
type Answer = { status: number; body: any }

/**
 * The statuses after which a request is repeated. 409: another request with this Idempotency-Key is running. 500 and
 * 503: a fault of the server. 507: the disk is full.
 */
const passing = new Set([409, 500, 503, 507])
const retryPauseMs = 20

export function startCallers(place: Place, random: Random, count: number): Callers {
  const accepted = new Set<string>()
  const cancelled = new Set<string>()
  const wrong: string[] = []
  let isStopping = false

  async function call(): Promise<void> {
    while (!isStopping) {
      const id = await submit(place, random, wrong)
      accepted.add(id)
      if (random.below(6) === 0 && (await cancel(place, id, wrong))) cancelled.add(id)
      await Bun.sleep(random.below(80))
    }
  }
  const calls = Array.from({ length: count }, () => call().catch(error => void wrong.push(`${error}`)))
  return {
    accepted,
    cancelled,
    wrong,
    async stop() {
      isStopping = true
      await Promise.all(calls)
    },
  }
}

/** Submits a job, and returns the id of the accepted job. */
async function submit(place: Place, random: Random, wrong: string[]): Promise<string> {
  const headers = { 'Idempotency-Key': crypto.randomUUID() }
  for (;;) {
    const source =
      random.below(3) === 0 ? { url: place.mediaUrl } : { upload_id: await upload(place, random, wrong) }
    const body = { ...source, webhook_url: place.webhookUrl }
    const answer = await insist(place, 'POST', '/v1/transcribe', body, headers)
    if (answer.status === 200) return answer.body.id
    // If the clock of the server was set forward, the upload may have expired. The next attempt uses another upload.
    if (answer.body?.error?.code !== 'UPLOAD_EXPIRED') wrong.push(`submit ${JSON.stringify(answer)}`)
  }
}

async function upload(place: Place, random: Random, wrong: string[]): Promise<string> {
  const bytes = speech(1 + random.below(9000))
  for (;;) {
    const { status, body } = await insist(place, 'POST', '/v1/upload', { filename: 'a.wav' })
    if (status !== 200) wrong.push(`upload ${status}`)
    const put = await untilAnswered(place.giveUp, () =>
      fetch(body.upload_url, { method: 'PUT', headers: body.headers, body: bytes }),
    )
    if (put.status === 200) return body.upload_id
    if (put.status !== 403) wrong.push(`put ${JSON.stringify(put)}`)
  }
}

/** Cancels a job. Returns false if the job had already ended. */
async function cancel(place: Place, id: string, wrong: string[]): Promise<boolean> {
  for (;;) {
    const { status, body } = await insist(place, 'POST', `/v1/transcribe/${id}/cancel`)
    if (status === 200) return true
    if (body?.error?.message?.includes('is already')) return false
    wrong.push(`cancel ${status} ${JSON.stringify(body)}`)
  }
}

function insist(
  { url, key, giveUp }: Place,
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const type: Record<string, string> = body ? { 'Content-Type': 'application/json' } : {}
  return untilAnswered(giveUp, () =>
    fetch(`${url}${path}`, {
      method,
      headers: { Authorization: key, ...type, ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    }),
  )
}

async function untilAnswered(giveUp: AbortSignal, send: () => Promise<Response>): Promise<Answer> {
  for (;;) {
    giveUp.throwIfAborted()
    try {
      const response = await send()
      const answer: Answer = { status: response.status, body: await response.json().catch(() => null) }
      const isFinal = answer.body?.error?.message?.includes('is already')
      if (isFinal || !passing.has(answer.status)) return answer
    } catch {
      // The connection failed, for example because the server was killed. The request is sent again.
    }
    await Bun.sleep(retryPauseMs)
  }
}
