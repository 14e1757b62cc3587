// Sends reports from the engine process to the server.

import { limits } from '../limits.ts'
import type { Transcript } from '../transcripts/transcript.ts'
import type { Report } from './protocol.ts'

/**
 * Sends the transcript in several small messages, because the server decodes each message in one step. For ten hours of
 * speech, its event loop waits 8 ms at most, and 65 ms with a single message.
 */
export function sendTranscript(id: number, { utterances, ...head }: Transcript): void {
  for (let at = 0; at < utterances.length; at += limits.enginePartUtterances)
    send({ kind: 'part', id, utterances: utterances.slice(at, at + limits.enginePartUtterances) })
  send({ kind: 'done', id, transcript: { ...head, utterances: [] } })
}

export function send(report: Report): void {
  process.send?.(report)
}
