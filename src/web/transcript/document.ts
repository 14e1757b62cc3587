// A transcript as the API returns it, and a place in its text. Also the writing direction of a text, the removal of
// superfluous spaces, and the separator between two sentences.

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

/** A part of the text of an utterance, from the position `from` to the position `to`. */
export type Place = { utterance: number; from: number; to: number }

/**
 * Returns the writing direction of the text. It is right to left if most letters at the start are Hebrew, Arabic or of
 * a related script. The detected language is not used, because it could be wrong.
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

/** Returns the text with single spaces and without spaces at both ends. */
export function tidied(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** Returns the text between two sentences: a space, or nothing in a language without spaces. */
export function separatorOf(language: string): string {
  return /^(zh|yue|ja|th|lo|km|my|bo)\b/.test(language) ? '' : ' '
}
