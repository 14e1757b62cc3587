// The paragraphs of a transcript on the page, and the talk time of each speaker.

import type { Utterance } from './document.ts'

/**
 * A paragraph of the page: successive utterances of one speaker, from the index `first` up to, but not including,
 * `last`. `isNewSpeaker` is false if the previous paragraph has the same speaker.
 */
export type Turn = { speaker: string | null; first: number; last: number; isNewSpeaker: boolean }

const paragraphLength = 480
const pauseSeconds = 2.5

/**
 * Divides the utterances into paragraphs. A paragraph ends when the speaker changes, or at a pause longer than
 * `pauseSeconds`. A paragraph of several utterances has at most `paragraphLength` characters.
 */
export function turnsOf(utterances: readonly Utterance[]): Turn[] {
  const turns: Turn[] = []
  let length = 0
  utterances.forEach((utterance, at) => {
    const turn = turns.at(-1)
    const before = utterances[at - 1]
    const isSame = turn !== undefined && turn.speaker === utterance.speaker
    const isPause = before !== undefined && utterance.start - before.end > pauseSeconds
    if (turn && isSame && !isPause && length + utterance.text.length <= paragraphLength) {
      turn.last = at + 1
      length += utterance.text.length
    } else {
      turns.push({ speaker: utterance.speaker, first: at, last: at + 1, isNewSpeaker: !isSame })
      length = utterance.text.length
    }
  })
  return turns
}

/** Returns how many seconds each speaker talks, the longest time first. */
export function talkTimes(utterances: readonly Utterance[]): { speaker: string; seconds: number }[] {
  const sums = new Map<string, number>()
  for (const { speaker, start, end } of utterances) {
    if (speaker !== null) sums.set(speaker, (sums.get(speaker) ?? 0) + end - start)
  }
  return [...sums]
    .map(([speaker, seconds]) => ({ speaker, seconds }))
    .toSorted((a, b) => b.seconds - a.seconds)
}
