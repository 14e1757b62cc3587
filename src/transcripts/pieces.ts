// Finds each word in the text of an utterance, or each utterance in the full transcript. The words or utterances alone
// do not show the punctuation and the white space between them. For example, there is no white space between the words
// of a Japanese text.

/** A word or an utterance with its punctuation. `spaced` is true if white space belongs before this piece. */
export type Piece = { text: string; spaced: boolean }

/**
 * The maximum number of characters between two successive parts (words or utterances) in the whole text. A part may be
 * missing in the whole text. The search for a part looks no further than this, so a missing part costs little time.
 */
const reach = 64

const letters = /[\p{L}\p{N}]/u

export function findPieces(parts: string[], whole: string): Piece[] {
  const spacedAnyway = whole === '' || /\s/.test(whole)
  let cursor = 0
  const pieces: Piece[] = []
  /**
   * The piece that was made from the previous part. The punctuation after that part is added to this piece. Undefined
   * for the first part, or if the previous part is not in `whole`.
   */
  let previous: Piece | undefined
  for (const part of parts) {
    const ahead = whole.slice(cursor, cursor + reach + part.length)
    const at = ahead.indexOf(part)
    const gap = at < 0 ? '' : ahead.slice(0, at)
    const piece: Piece = { text: part, spaced: at < 0 ? spacedAnyway : /\s/.test(gap) }
    // A punctuation mark belongs to the word before it. A mark that follows a space and touches the next word belongs
    // to the next word.
    if (gap !== '' && !letters.test(gap)) {
      const [, closing = '', opening = ''] = /^(.*?)(?:\s+(\S*))?$/su.exec(gap) ?? []
      if (previous) previous.text += closing
      piece.text = `${previous ? opening : gap.trimStart()}${part}`
    }
    cursor += at < 0 ? 0 : at + part.length
    previous = at < 0 ? undefined : piece
    pieces.push(piece)
  }
  const rest = whole.slice(cursor, cursor + reach).trimEnd()
  if (previous && !letters.test(rest)) previous.text += rest
  return pieces
}

export function joinPieces(pieces: Piece[]): string {
  return pieces.map(({ text, spaced }, index) => (spaced && index > 0 ? ` ${text}` : text)).join('')
}

/**
 * Returns a function that normalises a text with `fold` and removes all characters of `strip`. A second `fold` removes
 * repeated spaces that remain.
 */
export function cleaner(strip: string): (text: string) => string {
  const codes = [...strip].map(character => `\\u{${character.codePointAt(0)?.toString(16)}}`)
  const stripped = codes.length > 0 ? new RegExp(`[${codes.join('')}]`, 'gu') : null
  return text => (stripped ? fold(fold(text).replace(stripped, '')) : fold(text))
}

/**
 * Replaces each run of spaces, tabs and line breaks with one space, and trims the text. Removes control characters and
 * the byte order mark. Replaces lone surrogates with U+FFFD.
 */
export function fold(text: string): string {
  // Most single words need no change. This test is faster than the replacements.
  if (!/[\s\p{Cc}\p{Cs}]/u.test(text)) return text
  return text
    .toWellFormed()
    .replace(/[ \t-\r\u0085\u2028\u2029]+/g, ' ')
    .replace(/[\p{Cc}\ufeff]/gu, '')
    .replace(/ {2,}/g, ' ')
    .trim()
}
