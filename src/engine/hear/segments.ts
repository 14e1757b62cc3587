// Divides the text of a window (at most 30 s of sound) into segments. A segment is the text between two timestamp
// tokens of Whisper.

import type { Segment } from './align.ts'
import type { Hypothesis } from './hypothesis.ts'

/**
 * Divides the tokens of a decoded window at the timestamp tokens. Text after the last timestamp token is a segment that
 * ends at the end of the window.
 */
export function segmentsOf(
  { tokens, logProbabilities, attention, frames }: Hypothesis,
  firstTimestamp: number,
): Segment[] {
  const segments: Segment[] = []
  let first = 0
  let from = 0
  const close = (end: number, to: number) => {
    if (end === first) return
    segments.push({
      ids: tokens.slice(first, end),
      logProbabilities: logProbabilities.slice(first, end),
      attention: attention.slice(first, end + 1),
      from,
      to,
    })
  }
  for (const [index, id] of tokens.entries()) {
    if (id < firstTimestamp) continue
    const time = Math.min(id - firstTimestamp, frames)
    close(index, time)
    first = index + 1
    from = time
  }
  close(tokens.length, frames)
  return segments
}
