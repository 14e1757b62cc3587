// How the parts of a text stand beside one another. Only the text itself knows: Japanese and Thai put nothing
// between words, English a space, and one transcript may hold both.

/** A part as the whole text writes it; `spaced` when something white comes before it there. */
export type Piece = { text: string; spaced: boolean }

/** How far ahead of its expected place a part is looked for; a bound keeps a long text linear. */
const reach = 64

const letters = /[\p{L}\p{N}]/u

export function findPieces(parts: string[], whole: string): Piece[] {
  const spacedAnyway = whole === '' || /\s/.test(whole)
  let cursor = 0
  const pieces: Piece[] = []
  /** The piece that ends at the cursor, while we know where in the text we are. */
  let before: Piece | undefined
  for (const part of parts) {
    const ahead = whole.slice(cursor, cursor + reach + part.length)
    const at = ahead.indexOf(part)
    const gap = at < 0 ? '' : ahead.slice(0, at)
    const piece: Piece = { text: part, spaced: at < 0 ? spacedAnyway : /\s/.test(gap) }
    // Punctuation that belongs to no word of its own goes with the word it touches.
    if (gap !== '' && !letters.test(gap)) {
      const [, closing = '', opening = ''] = /^(.*?)(?:\s+(\S*))?$/su.exec(gap) ?? []
      if (before) before.text += closing
      piece.text = `${before ? opening : gap.trimStart()}${part}`
    }
    cursor += at < 0 ? 0 : at + part.length
    before = at < 0 ? undefined : piece
    pieces.push(piece)
  }
  const rest = whole.slice(cursor, cursor + reach).trimEnd()
  if (before && !letters.test(rest)) before.text += rest
  return pieces
}

export function joinPieces(pieces: Piece[]): string {
  return pieces.map(({ text, spaced }, index) => (spaced && index > 0 ? ` ${text}` : text)).join('')
}

/** Takes out the characters of `strip`, one by one, and folds what would break a line of text. */
export function cleaner(strip: string): (text: string) => string {
  const codes = [...strip].map(character => `\\u{${character.codePointAt(0)?.toString(16)}}`)
  const stripped = codes.length > 0 ? new RegExp(`[${codes.join('')}]`, 'gu') : null
  return text => (stripped ? fold(fold(text).replace(stripped, '')) : fold(text))
}

/** One line, no control characters, no half of a surrogate pair. */
export function fold(text: string): string {
  // Most words are plain: looking is quicker than replacing.
  if (!/[\s\p{Cc}\p{Cs}]/u.test(text)) return text
  return text
    .toWellFormed()
    .replace(/[ \t-\r\u0085\u2028\u2029]+/g, ' ')
    .replace(/[\p{Cc}\ufeff]/gu, '')
    .replace(/ {2,}/g, ' ')
    .trim()
}
