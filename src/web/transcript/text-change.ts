// The difference between two texts.

/** A change of a text: `text` replaces the part between the positions `from` and `to`. */
export type TextChange = { from: number; to: number; text: string }

/** Returns the shortest change that turns the text `before` into the text `after`. */
export function changeOf(before: string, after: string): TextChange {
  const shorter = Math.min(before.length, after.length)
  let from = 0
  while (from < shorter && before[from] === after[from]) from++
  let sameAtEnd = 0
  while (sameAtEnd < shorter - from && before.at(-1 - sameAtEnd) === after.at(-1 - sameAtEnd)) sameAtEnd++
  return { from, to: before.length - sameAtEnd, text: after.slice(from, after.length - sameAtEnd) }
}
