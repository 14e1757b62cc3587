// A transcript as the API returns it, a place in its text, the direction of the text, and the separator between two
// sentences.

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

/**
 * A part of the text of an utterance: the index of the utterance, and the positions at which the part begins and ends.
 */
export type Place = { utterance: number; from: number; to: number }

/**
 * Returns the direction in which the text is written. The direction is right to left if most letters at the start of
 * the text are Hebrew, Arabic or of a related script. The function looks at the letters and not at the detected
 * language, because the detected language could be wrong.
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
