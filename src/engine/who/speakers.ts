// Words to the speakers of turns: by the time they share, and never one stray word within somebody's sentence.

import { endsSentence } from '../../transcripts/sentence.ts'
import type { Turn } from './turns.ts'

type Timed = { text: string; from: number; to: number }

/** A run of words this short, and this small a part of its sentence, belongs to whoever says the rest. */
const stray = { words: 2, share: 1 / 3 }
/** A pause this long ends a sentence, whatever was written. */
const pauseSamples = 1.2 * 16_000

/** A number for each word, in the order of first appearance from 0. */
export function speakersOf(words: readonly Timed[], turns: readonly Turn[]): number[] {
  const raw = nearestTurns(words, turns)
  for (const { first, end } of sentences(words)) settle(raw, first, end)
  const numbers = new Map<number, number>()
  return raw.map(each => {
    if (!numbers.has(each)) numbers.set(each, numbers.size)
    return numbers.get(each)!
  })
}

/** Who speaks most of the word's time; where nobody does, who is nearest. Words and turns are in order. */
function nearestTurns(words: readonly Timed[], turns: readonly Turn[]): number[] {
  let near = 0
  return words.map(({ from, to }) => {
    while (near > 0 && turns[near]!.from > from) near--
    while (near + 1 < turns.length && turns[near]!.to <= from) near++
    const shared = new Map<number, number>()
    for (let at = near; at < turns.length && turns[at]!.from < to; at++) {
      const { speaker, ...turn } = turns[at]!
      const time = Math.min(to, turn.to) - Math.max(from, turn.from)
      if (time > 0) shared.set(speaker, (shared.get(speaker) ?? 0) + time)
    }
    const [most] = [...shared].toSorted((one, other) => other[1] - one[1])
    if (most) return most[0]
    const around = turns.slice(Math.max(0, near - 1), near + 2)
    const apart = (turn: Turn) => Math.max(turn.from - to, from - turn.to)
    return around.toSorted((one, other) => apart(one) - apart(other))[0]?.speaker ?? 0
  })
}

function* sentences(words: readonly Timed[]): Generator<{ first: number; end: number }> {
  let first = 0
  for (let at = 0; at < words.length; at++) {
    const next = words[at + 1]
    if (next && !endsSentence(words[at]!.text) && next.from - words[at]!.to < pauseSamples) continue
    yield { first, end: at + 1 }
    first = at + 1
  }
}

function settle(speakers: number[], first: number, end: number): void {
  const counts = new Map<number, number>()
  for (const each of speakers.slice(first, end)) counts.set(each, (counts.get(each) ?? 0) + 1)
  const [main] = [...counts].toSorted((one, other) => other[1] - one[1])
  const length = end - first
  for (let from = first, to = first; from < end; from = to) {
    while (to < end && speakers[to] === speakers[from]) to++
    const run = to - from
    if (run <= stray.words && run <= stray.share * length) speakers.fill(main![0], from, to)
  }
}
