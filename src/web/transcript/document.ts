// A transcript in the memory of the page: its utterances, and an index that contains the time of each word and the
// position of each word in the text.

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
  /**
   * The positions in the utterance's text at which the word begins (`from`) and ends (`to`), as numbers of characters.
   */
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
    // If an utterance has no list of words, its whole text is indexed as a single word.
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

/**
 * Returns the index of the last word that begins at `seconds` or earlier. Returns -1 if no word begins so early. Uses a
 * binary search.
 */
export function wordAt({ starts }: WordIndex, seconds: number): number {
  return lastAtMost(starts, seconds)
}

/** Returns the index of the first word in an utterance. `utterance` is the index of the utterance. */
export function firstWordOf({ owners }: WordIndex, utterance: number): number {
  return lastAtMost(owners, utterance - 1) + 1
}

/**
 * Returns the index of the word at the position `character` in the text of an utterance. `utterance` is the index of
 * the utterance.
 */
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

/**
 * A paragraph of the page: successive utterances of one speaker. `first` is the index of the first utterance, and
 * `last` is the index after the last utterance. `isNewSpeaker` is false if the paragraph before has the same speaker.
 */
export type Turn = { speaker: string | null; first: number; last: number; isNewSpeaker: boolean }

const paragraphLength = 480
const pauseSeconds = 2.5

/**
 * Divides the utterances into paragraphs. A paragraph ends when the speaker changes, at a pause longer than
 * `pauseSeconds`, or when another utterance would make it longer than `paragraphLength` characters.
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

/** Returns for how many seconds each speaker talks. The speaker who talks most is the first in the list. */
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
 * Returns the direction in which the text is written. It is right to left if most letters at the start of the text are
 * Hebrew, Arabic or of a related script. The letters are used because the detected language could be wrong.
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

/** Returns the text between two sentences: a space, or an empty text for a language that is written without spaces. */
export function separatorOf(language: string): string {
  return /^(zh|yue|ja|th|lo|km|my|bo)\b/.test(language) ? '' : ' '
}
