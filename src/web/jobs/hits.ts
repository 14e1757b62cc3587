// Requests the hits of a search in all transcripts of the account.

import { ask } from '../base/net.ts'
import { type Job, nameInUrl, nameOf } from './job.ts'

type Match = { from: number; to: number; start: number }

type FoundUtterance = {
  transcription_id: string
  filename: string | null
  source_url?: string
  utterance: number
  start: number
  speaker: string | null
  text: string
  matches: Match[]
}

type HitPage = { items: FoundUtterance[]; next_cursor: string | null }

/** A part of the text that is shown for a hit. `isFound` is true if this part matches the query. */
type Part = { text: string; isFound: boolean }

export type Hit = {
  jobId: string
  name: string | null
  /** The start of the first word that the query matches, in seconds of the recording. */
  start: number
  speaker: string | null
  parts: Part[]
}

export async function searchTranscripts(
  asked: string,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<{ items: Hit[]; next_cursor: string | null }> {
  const query = { q: asked, limit: 50, cursor }
  const page = await ask<HitPage>('GET', '/v1/search', { query, signal })
  return { items: page.items.map(hitOf), next_cursor: page.next_cursor }
}

/** Returns the names of the 200 newest jobs. The keys of the result are the ids of the jobs. */
export async function namesOfJobs(): Promise<Record<string, string>> {
  const { items } = await ask<{ items: Job[] }>('GET', '/v1/transcriptions', { query: { limit: 200 } })
  return Object.fromEntries(items.map(job => [job.id, nameOf(job)]))
}

function hitOf({
  transcription_id: jobId,
  filename,
  source_url: url,
  start,
  speaker,
  text,
  matches,
}: FoundUtterance): Hit {
  const name = filename ?? (url ? nameInUrl(url) : null)
  return { jobId, name, start: matches[0]?.start ?? start, speaker, parts: partsOf(text, matches) }
}

function partsOf(text: string, matches: readonly Match[]): Part[] {
  const parts: Part[] = []
  let at = 0
  for (const { from, to } of matches) {
    if (from > at) parts.push({ text: text.slice(at, from), isFound: false })
    parts.push({ text: text.slice(Math.max(from, at), to), isFound: true })
    at = Math.max(at, to)
  }
  return [...parts, { text: text.slice(at), isFound: false }]
}
