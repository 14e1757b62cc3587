// Converts Chinese text to simplified or traditional characters. Every character is replaced by exactly one character.

import { dictionariesTo, type Script, scriptOf } from './dictionaries.ts'

/**
 * Returns the script of most of the characters that are used in only one script. Returns null if there are no such
 * characters, or equally many of both scripts.
 */
export function mainScript(text: string): Script | null {
  const scripts = [...text].map(scriptOf)
  const count = (script: Script) => scripts.filter(each => each === script).length
  const more = count('simplified') - count('traditional')
  if (more === 0) return null
  return more > 0 ? 'simplified' : 'traditional'
}

/** A character, and the length of the pause before it, in samples. */
export type SpokenCharacter = { character: string; pause: number }

/**
 * Converts the parts of a text that are in the other script. Characters that both scripts use do not change in a part
 * that is already in `script`: `后` (empress) stays in a traditional text, although it can be simplified for `後`.
 */
export function convertTo(script: Script, text: readonly SpokenCharacter[]): string[] {
  const dictionaries = dictionariesTo(script)
  return partsOf(text).flatMap(part =>
    part.script === script || part.script === null
      ? part.characters
      : dictionaries.reduce(
          (characters, { entries, longest }) => replace(characters, entries, longest),
          part.characters,
        ),
  )
}

type Part = { script: Script | null; characters: string[] }

/**
 * Divides a text into parts of one script each. The text between the last character of one script and the first
 * character of the other script is divided at its longest pause, because the script seldom changes within a sentence.
 */
function partsOf(text: readonly SpokenCharacter[]): Part[] {
  const parts: Part[] = []
  const slice = (from: number, to: number) => text.slice(from, to).map(({ character }) => character)
  let script: Script | null = null
  let begin = 0
  let last = 0
  for (const [index, { character }] of text.entries()) {
    const own = scriptOf(character)
    if (own === null) continue
    if (script !== null && own !== script) {
      const end = longestPause(text, last + 1, index)
      parts.push({ script, characters: slice(begin, end) })
      begin = end
    }
    script = own
    last = index
  }
  return [...parts, { script, characters: slice(begin, text.length) }]
}

/** Returns the index of the character after the longest pause. If all pauses are equally long, returns `to`. */
function longestPause(text: readonly SpokenCharacter[], from: number, to: number): number {
  const pauseAt = (index: number) => text[index]?.pause ?? 0
  let longest = to
  for (let index = to - 1; index >= from; index--) if (pauseAt(index) > pauseAt(longest)) longest = index
  return longest
}

/**
 * Replaces the texts that are in the dictionary, from left to right. Of several texts that begin at the same character,
 * the longest one is replaced.
 */
function replace(
  characters: readonly string[],
  dictionary: ReadonlyMap<string, string>,
  longest: number,
): string[] {
  const replaced: string[] = []
  while (replaced.length < characters.length) {
    const at = replaced.length
    let text = characters.slice(at, at + longest)
    while (text.length > 1 && !dictionary.has(text.join(''))) text = text.slice(0, -1)
    replaced.push(...(dictionary.get(text.join('')) ?? text.join('')))
  }
  return replaced
}
