// A transcript in memory: its utterances, and an index with the time of each word and its position in the text.

export type Word = { word: string; start: number; end: number; confidence: number | null; speaker?: string }

export type Utterance = {
  start: number
  end: number
  text: string
  speaker: string | null
  confidence: number | null
  words: Word[]
}

export type Result = {
  full_transcript: string
  language: string
  duration_seconds: number
  speakers: string[] | null
  utterances: Utterance[]
  model?: string
  warnings?: string[]
}

/** The words of all utterances, in order of time. The same index in each of these arrays belongs to the same word. */
export type WordIndex = {
  starts: Float64Array
  ends: Float64Array
  /** The index of the utterance that contains the word. */
  owners: Uint32Array
  /** The offsets in the utterance's text at which the word begins (`from`) and ends (`to`). */
  from: Uint32Array
  to: Uint32Array
  confidence: Float32Array
}

export function indexWords(utterances: readonly Utterance[]): WordIndex {
  const count = utterances.reduce((sum, { words }) => sum + Math.max(1, words.length), 0)
  const index: WordIndex = {
    starts: new Float64Array(count),
    ends: new Float64Array(count),
    owners: new Uint32Array(count),
    from: new Uint32Array(count),
    to: new Uint32Array(count),
    confidence: new Float32Array(count),
  }
  let at = 0
  utterances.forEach(({ text, words, start, end, confidence }, owner) => {
    // If an utterance has no word times, its whole text counts as one word.
    if (words.length === 0) put(index, at++, { start, end, owner, from: 0, to: text.length, confidence })
    let offset = 0
    for (const word of words) {
      const found = text.indexOf(word.word, offset)
      const from = found < 0 ? offset : found
      const to = found < 0 ? offset : found + word.word.length
      put(index, at++, { start: word.start, end: word.end, owner, from, to, confidence: word.confidence })
      offset = to
    }
  })
  return index
}

type Place = {
  start: number
  end: number
  owner: number
  from: number
  to: number
  confidence: number | null
}

function put(index: WordIndex, at: number, { start, end, owner, from, to, confidence }: Place): void {
  index.starts[at] = start
  index.ends[at] = end
  index.owners[at] = owner
  index.from[at] = from
  index.to[at] = to
  index.confidence[at] = confidence ?? 1
}

/** Returns the index of the last word that begins at `seconds` or earlier, or -1. Uses a binary search. */
export function wordAt({ starts }: WordIndex, seconds: number): number {
  return lastAtMost(starts, seconds)
}

/** Returns the index of the first word of an utterance. */
export function firstWordOf({ owners }: WordIndex, utterance: number): number {
  return lastAtMost(owners, utterance - 1) + 1
}

/** Returns the index of the word at the position `character` in the text of an utterance. */
export function wordAtCharacter(index: WordIndex, utterance: number, character: number): number {
  let word = firstWordOf(index, utterance)
  while (index.owners[word + 1] === utterance && (index.to[word] ?? 0) < character) word++
  return word
}

function lastAtMost(sorted: Float64Array | Uint32Array, value: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) <= value) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** A paragraph: consecutive utterances of one speaker, from the index `first` to before the index `last`. */
export type Turn = { speaker: string | null; first: number; last: number; isNewSpeaker: boolean }

const paragraphLength = 480
const pauseSeconds = 2.5

/**
 * Divides the utterances into paragraphs. A paragraph ends when the speaker changes, at a pause longer than
 * `pauseSeconds`, and before it is longer than `paragraphLength` characters.
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

/** Returns how many seconds each speaker talks. The speaker who talks most is first. */
export function talkTimes(utterances: readonly Utterance[]): { speaker: string; seconds: number }[] {
  const sums = new Map<string, number>()
  for (const { speaker, start, end } of utterances) {
    if (speaker !== null) sums.set(speaker, (sums.get(speaker) ?? 0) + end - start)
  }
  return [...sums]
    .map(([speaker, seconds]) => ({ speaker, seconds }))
    .toSorted((a, b) => b.seconds - a.seconds)
}

/**
 * Returns the direction of writing. It is right to left if most letters at the start are Hebrew, Arabic or of a
 * related script. The detected language could be wrong, so the letters determine the direction.
 */
export function directionOf(utterances: readonly Utterance[]): 'ltr' | 'rtl' {
  const start = utterances
    .slice(0, 50)
    .map(({ text }) => text)
    .join(' ')
  const letters = start.match(/\p{L}/gu)?.length ?? 0
  const fromRight = start.match(/[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/g)?.length ?? 0
  return fromRight * 2 > letters ? 'rtl' : 'ltr'
}

/** Returns the text between two sentences: a space, or nothing in a language without spaces. */
export function separatorOf(language: string): string {
  return /^(zh|yue|ja|th|lo|km|my|bo)\b/.test(language) ? '' : ' '
}
