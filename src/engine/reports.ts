// Sends reports from the engine process to its parent process.

import { limits } from '../limits.ts'
import type { Transcript } from '../transcripts/transcript.ts'
import type { Report } from './protocol.ts'

/**
 * Sends a long transcript in several small messages, because the event loop of the server is blocked while it decodes a
 * message. In small messages, the transcript of ten hours of speech blocks the event loop for at most 8 ms at a time. A
 * single message would block it for 65 ms.
 */
export function sendTranscript(id: number, { utterances, ...head }: Transcript): void {
  for (let at = 0; at < utterances.length; at += limits.enginePartUtterances)
    send({ kind: 'part', id, utterances: utterances.slice(at, at + limits.enginePartUtterances) })
  send({ kind: 'done', id, transcript: { ...head, utterances: [] } })
}

export function send(report: Report): void {
  process.send?.(report)
}
