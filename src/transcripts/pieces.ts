// Finds parts in a text, with the spaces and punctuation around them. The text decides about spaces: Japanese and Thai
// have none between words, English has, and one transcript may hold both.

/** A part as it stands in the whole text; `spaced` when white space comes before it. */
export type Piece = { text: string; spaced: boolean }

/** Characters searched ahead for a part. The bound keeps the search linear in a long text. */
const reach = 64

const letters = /[\p{L}\p{N}]/u

export function findPieces(parts: string[], whole: string): Piece[] {
  const spacedAnyway = whole === '' || /\s/.test(whole)
  let cursor = 0
  const pieces: Piece[] = []
  /** The piece that ends at the cursor; undefined when the last part was not found. */
  let before: Piece | undefined
  for (const part of parts) {
    const ahead = whole.slice(cursor, cursor + reach + part.length)
    const at = ahead.indexOf(part)
    const gap = at < 0 ? '' : ahead.slice(0, at)
    const piece: Piece = { text: part, spaced: at < 0 ? spacedAnyway : /\s/.test(gap) }
    // Punctuation between two words joins the word that it touches.
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

/** Removes the characters of `strip` and folds white space. */
export function cleaner(strip: string): (text: string) => string {
  const codes = [...strip].map(character => `\\u{${character.codePointAt(0)?.toString(16)}}`)
  const stripped = codes.length > 0 ? new RegExp(`[${codes.join('')}]`, 'gu') : null
  return text => (stripped ? fold(fold(text).replace(stripped, '')) : fold(text))
}

/** Gives one line without control characters and without lone surrogates. */
export function fold(text: string): string {
  // Most words are plain, and one test is faster than three replacements.
  if (!/[\s\p{Cc}\p{Cs}]/u.test(text)) return text
  return text
    .toWellFormed()
    .replace(/[ \t-\r\u0085\u2028\u2029]+/g, ' ')
    .replace(/[\p{Cc}\ufeff]/gu, '')
    .replace(/ {2,}/g, ' ')
    .trim()
}
