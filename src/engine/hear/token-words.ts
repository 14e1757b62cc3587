// Joins the tokens of a text into words.

/** A part of a text, and the ids of its tokens. */
type Piece = { text: string; ids: number[] }

/**
 * Divides tokens into small groups, so that usually no character is in two groups. A character may consist of several
 * tokens. A group has at most 8 tokens, even if its last character is incomplete.
 */
export function splitCharacters(ids: readonly number[], decode: (ids: readonly number[]) => string): Piece[] {
  const characters: Piece[] = []
  let run: number[] = []
  for (const [index, id] of ids.entries()) {
    run.push(id)
    const text = decode(run)
    if (text.includes('\ufffd') && index < ids.length - 1 && run.length < 8) continue
    characters.push({ text, ids: run })
    run = []
  }
  return characters
}

/**
 * Returns true if `text` continues a Latin word or a number at the end of `before`. For example, the word `iPhone` can
 * consist of two tokens, `i` and `Phone`.
 */
export function continuesLatin(before: string, text: string): boolean {
  return /[\p{sc=Latin}\p{Nd}]$/u.test(before) && /^[\p{sc=Latin}\p{Nd}]/u.test(text)
}

/**
 * Joins the pieces of each Latin word or number. Every other piece, such as a Chinese character, is a word of its own.
 */
export function joinLatin(pieces: readonly Piece[]): Piece[] {
  const words: Piece[] = []
  for (const { text, ids } of pieces) {
    const last = words.at(-1)
    if (last && continuesLatin(last.text, text)) {
      last.text += text
      last.ids.push(...ids)
    } else words.push({ text, ids: [...ids] })
  }
  return words
}

/**
 * Joins pieces of text into words, for languages without spaces between words. A word begins at each boundary that
 * `Intl.Segmenter` finds. But no element of `pieces` is divided, and a single space is joined to the text after it.
 */
export function joinAtBreaks(pieces: readonly Piece[], language: string): Piece[] {
  const text = pieces.map(piece => piece.text).join('')
  const segments = new Intl.Segmenter(language, { granularity: 'word' }).segment(text)
  const begins = new Set(Array.from(segments, ({ index }) => index))
  let at = 0
  return joined(pieces, ({ text }) => {
    const begin = at
    at += text.length
    return begins.has(begin)
  })
}

/**
 * Joins pieces of text into words, for languages with spaces between words. Punctuation outside a word usually becomes
 * a word of its own.
 */
export function joinAtSpaces(pieces: readonly Piece[]): Piece[] {
  let glued = false
  return joined(pieces, ({ text }, before, next) => {
    const follows = glued
    glued = isPunctuation(text) && isInside(before, text, next)
    if (follows || glued) return false
    if (text.startsWith(' ') || isPunctuation(text)) return true
    return isPunctuation(before) && !opens.test(before)
  })
}

/**
 * Joins the elements of `pieces` into words. A word begins at each element for which `begins` returns true. But if the
 * word before is only a single space so far, the element is added to it, because a space is not a word of its own.
 */
function joined(
  pieces: readonly Piece[],
  begins: (piece: Piece, before: string, next: string) => boolean,
): Piece[] {
  const words: Piece[] = []
  for (const [index, piece] of pieces.entries()) {
    const last = words.at(-1)
    const isFirst = begins(piece, last?.text ?? '', pieces[index + 1]?.text ?? '')
    // A space is not a word of its own, so `piece` becomes part of the word that begins with this space.
    const afterSpace = last?.text === ' '
    if (!last || (isFirst && !afterSpace)) words.push({ text: piece.text, ids: [...piece.ids] })
    else {
      last.text += piece.text
      last.ids.push(...piece.ids)
    }
  }
  return words
}

/**
 * Matches punctuation at the start of a word: it follows a space, as in ` -5`, or ends with an opening bracket, `¿`,
 * `¡` or a quote. The text directly after this punctuation belongs to the same word. After any other punctuation, a new
 * word begins.
 */
const opens = /^ |[\p{Ps}\p{Pi}¿¡"']$/u

function isPunctuation(text: string): boolean {
  return /^ ?\p{P}+$/u.test(text)
}

/** Returns true if the mark is inside a word, as in `well-known`, `3.14`, `10:30`, `U.S.`, `AT&T` and `steno.dev`. */
function isInside(before: string, mark: string, next: string): boolean {
  if (/^[-‐‑'’/@&_]$/u.test(mark)) return /[\p{L}\p{M}\p{N}]$/u.test(before) && /^[\p{L}\p{N}]/u.test(next)
  if (/^[.,:]$/.test(mark) && /\p{N}$/u.test(before)) return /^\p{N}/u.test(next)
  return mark === '.' && /\p{L}$/u.test(before) && (/^\p{Ll}/u.test(next) || initial.test(before + next))
}

/**
 * Matches two initials of an abbreviation such as `U.S.`. The caller has removed the full stop between them, so the
 * text contains `US`. The initials follow the start of the text, a space, or another full stop.
 */
const initial = /(?:^|[ .])\p{Lu}\p{Lu}/u
