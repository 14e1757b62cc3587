// Joins punctuation to the words before and after it.

import { framesPerSecond } from '../audio.ts'
import type { AlignedWord } from './aligned-word.ts'

/** Matches punctuation that can be joined to the next word, such as an opening bracket or a hyphen. */
const opening = /^[\p{Ps}\p{Pi}¿¡"'-]+$/u
/**
 * Matches punctuation that is joined to the previous word, even after a space. French has a space before some marks,
 * and a dash may follow a space in any language.
 */
const closing = /^[!?:;,.…»”’)\]}%–—।॥؟،؛۔、。！？：；」』）】]+$/u

/** Matches punctuation that is spoken, such as a percent sign. */
const spoken = /[%‰&@#§*/]/

/**
 * The maximum time that a punctuation mark adds to the end of a word, in model frames (20 ms each). The time of the
 * mark often includes the pause after the word, so there is a maximum. The time of the mark often includes the last
 * sound of the word too, so the maximum is not 0.
 */
const markMax = 0.2 * framesPerSecond

/**
 * Joins punctuation to words:
 * - Opening brackets, `¿` and `¡` are joined to the next word.
 * - Opening quotes, straight quotes and hyphens are joined to the next word if they follow a space.
 * - Closing punctuation (`closing`) is joined to the previous word, even after a space.
 * - Other punctuation is joined to the previous word if it does not follow a space.
 * - Punctuation that is joined to no word becomes a word of its own.
 *
 * The model gives punctuation a time too. A word with punctuation after it gets the end time of the punctuation. But
 * this time is at most `markMax` (0.2 s) after the end of the spoken part: the word and spoken punctuation, such as a
 * percent sign.
 */
export function mergePunctuation<Word extends AlignedWord>(words: readonly Word[]): Word[] {
  const merged: Word[] = []
  let ahead: Word | null = null
  /**
   * The time, in model frames, at which the spoken part of the last word in `merged` ends. A percent sign is spoken,
   * but a comma is not. With marks such as a comma, the word ends at most `markMax` frames after this time.
   */
  let spokenTo = 0
  for (const word of words) {
    const last = merged.at(-1)
    const side = sideOf(word.text, ahead === null && last !== undefined)
    if (side === 'after') {
      const text: string = (ahead?.text ?? '') + word.text
      ahead = { ...(ahead ?? word), text }
    } else if (side === 'before' && last) {
      last.text += word.text
      if (word.text.trim() === '') continue
      if (spoken.test(word.text)) spokenTo = word.to
      last.to = Math.min(word.to, spokenTo + markMax)
    } else {
      merged.push(ahead ? { ...word, text: ahead.text + word.text } : { ...word })
      spokenTo = word.to
      ahead = null
    }
  }
  if (ahead) merged.push(ahead)
  return merged
}

/**
 * Returns `before` for punctuation or spaces that are joined to the previous word, and `after` for punctuation that is
 * joined to the next word. Returns null for text that is joined to no other word.
 */
function sideOf(text: string, hasWordBefore: boolean): 'before' | 'after' | null {
  const bare = text.trim()
  if (bare === '') return hasWordBefore ? 'before' : null
  if (!/^[\p{P}]+$/u.test(bare)) return null
  const spaced = text.startsWith(' ')
  // Opening brackets, `¿` and `¡` are always joined to the next word. A quote or a hyphen is joined to it only if there
  // is a space before the quote or the hyphen.
  if (opening.test(bare) && (spaced || /^[\p{Ps}¿¡]+$/u.test(bare))) return 'after'
  return hasWordBefore && (!spaced || closing.test(bare)) ? 'before' : null
}
