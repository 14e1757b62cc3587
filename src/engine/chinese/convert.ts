// Converts Chinese text to simplified or traditional characters. Each character stays, or is replaced by exactly one
// character.

import { sampleRate } from '../audio.ts'
import { type Dictionary, dictionariesTo, type Script, scriptOf } from './dictionaries.ts'

/**
 * Returns the Chinese script of a text, decided by the characters that are used in only one script. The script with
 * more of these characters is the result. Returns null if both scripts have equally many, for example none.
 */
export function mainScript(text: string): Script | null {
  const scripts = [...text].map(scriptOf)
  const count = (script: Script) => scripts.filter(each => each === script).length
  const more = count('simplified') - count('traditional')
  if (more === 0) return null
  return more > 0 ? 'simplified' : 'traditional'
}

/** Returns true if the text has a character that is used in only one of the two Chinese scripts. */
export function showsScript(text: string): boolean {
  return [...text].some(character => scriptOf(character) !== null)
}

/** A character, and the length of the pause before it, in samples. */
export type SpokenCharacter = { character: string; pause: number }

/**
 * Converts to `script` the parts of a text that are in the other Chinese script. A part that is already in `script`
 * must stay unchanged, because a conversion would make some of its characters wrong. For example, `后` means empress in
 * a traditional text, but in a simplified text it is also the form of `後` (after). A conversion of the traditional text
 * could change the empress to `後`.
 */
export function convertTo(script: Script, text: readonly SpokenCharacter[]): string[] {
  const dictionaries = dictionariesTo(script)
  const convert = (characters: string[]) => dictionaries.reduce(replace, characters)
  return partsOf(text).flatMap(part =>
    part.script === script || part.script === null
      ? part.text.map(({ character }) => character)
      : withoutPauses(part.text).flatMap(convert),
  )
}

type Part = { script: Script | null; text: readonly SpokenCharacter[] }

/**
 * Divides a text into parts of one script each: simplified or traditional. Between two parts, there may be characters
 * that both scripts use. The boundary is then set at the longest pause before, between or after these characters. The
 * longest pause is probably the end of a sentence, and the script seldom changes within a sentence.
 */
function partsOf(text: readonly SpokenCharacter[]): Part[] {
  const parts: Part[] = []
  let script: Script | null = null
  let begin = 0
  let last = 0
  for (const [index, { character }] of text.entries()) {
    const own = scriptOf(character)
    if (own === null) continue
    if (script !== null && own !== script) {
      const end = longestPause(text, last + 1, index)
      parts.push({ script, text: text.slice(begin, end) })
      begin = end
    }
    script = own
    last = index
  }
  return [...parts, { script, text: text.slice(begin) }]
}

/** Returns the index of the character after the longest pause. If all pauses are equally long, returns `to`. */
function longestPause(text: readonly SpokenCharacter[], from: number, to: number): number {
  const pauseAt = (index: number) => text[index]?.pause ?? 0
  let longest = to
  for (let index = to - 1; index >= from; index--) if (pauseAt(index) > pauseAt(longest)) longest = index
  return longest
}

/**
 * The shortest pause at which a phrase ends, in samples. With CTC models, shorter pauses occur inside phrases, because
 * frames without a token can lie between two characters.
 */
const phrasePause = 0.3 * sampleRate

/** Divides the text at each pause of `phrasePause` or more. */
function withoutPauses(text: readonly SpokenCharacter[]): string[][] {
  const groups: string[][] = []
  for (const { character, pause } of text) {
    const group = groups.at(-1)
    if (group && pause < phrasePause) group.push(character)
    else groups.push([character])
  }
  return groups
}

/** Replaces the phrases and the single characters that are in the dictionary. */
function replace(characters: readonly string[], dictionary: Dictionary): string[] {
  const lengths = firstPieces(characters, dictionary)
  const replaced: string[] = []
  while (replaced.length < characters.length) {
    const from = replaced.length
    const piece = characters.slice(from, from + (lengths[from] ?? 1)).join('')
    replaced.push(...(dictionary.entries.get(piece) ?? piece))
  }
  return replaced
}

/**
 * Divides the characters into pieces: phrases of the dictionary, and single characters. Takes the division with the
 * fewest pieces. If several divisions have the fewest pieces, takes one with the fewest exceptions (see `exceptions`).
 *
 * Returns one length for each index of `characters`: the length of the first piece in the best division of the text
 * from this index to the end.
 */
function firstPieces(characters: readonly string[], { entries, longest }: Dictionary): number[] {
  // The cost of a division is `pieceCost` for each piece, and 1 for each exception. An exception is a character that a
  // phrase replaces differently than the dictionary replaces the single character. `pieceCost` is more than the cost of
  // all exceptions together, so a division with fewer pieces always costs less.
  // For example, `头发现` has two divisions into two pieces. In the division into `头发` and `现`, the phrase `头发` makes `髮`
  // of `发`, but the single character `发` becomes `發`. This is an exception, so the division into `头` and `发现` is taken.
  const pieceCost = characters.length + 1
  const costs = Array.from(characters, () => 0)
  const lengths = Array.from(characters, () => 1)
  for (let from = characters.length - 1; from >= 0; from--) {
    let piece = characters[from] ?? ''
    let cheapest = pieceCost + (costs[from + 1] ?? 0)
    for (let to = from + 2; to <= Math.min(characters.length, from + longest); to++) {
      piece += characters[to - 1]
      const replacement = entries.get(piece)
      if (replacement === undefined) continue
      const cost = pieceCost + exceptions(piece, replacement, entries) + (costs[to] ?? 0)
      if (cost > cheapest) continue
      cheapest = cost
      lengths[from] = to - from
    }
    costs[from] = cheapest
  }
  return lengths
}

/**
 * Counts the exceptions in a phrase. An exception is a character whose replacement in the phrase differs from its
 * replacement as a single character. For example, the phrase `头发` becomes `頭髮`, but the single character `发` becomes
 * `發`. So `发` is an exception in this phrase.
 */
function exceptions(phrase: string, replacement: string, entries: ReadonlyMap<string, string>): number {
  const replaced = [...replacement]
  return [...phrase].filter((character, at) => (entries.get(character) ?? character) !== replaced[at]).length
}
