// The checks of a decoded text: signs that a model loops, guesses, or writes words for noise.

/** Whisper's own thresholds and temperatures. Systems that decode in batches often leave them out, and loop. */
export const guards = {
  compressionMax: 2.4,
  logProbabilityMin: -1,
  noSpeechMin: 0.6,
  temperatures: [0, 0.2, 0.4, 0.6, 0.8, 1],
} as const

export type DecodedText = {
  text: string
  logProbability: number
  noSpeech: number
  looped: boolean
  /** Seconds of the speech spans in the window. */
  speechSeconds: number
}

export type Verdict = 'good' | 'silence' | 'again'

export function judge({ text, logProbability, noSpeech, looped, speechSeconds }: DecodedText): Verdict {
  if (noSpeech > guards.noSpeechMin && logProbability < guards.logProbabilityMin) return 'silence'
  if (looped || compressionOf(text) > guards.compressionMax) return 'again'
  if (logProbability < guards.logProbabilityMin) return 'again'
  if (text.trim() === '' && speechSeconds > 2 && noSpeech < guards.noSpeechMin) return 'again'
  return 'good'
}

/**
 * The compression ratio of a text by deflate: high when it repeats itself. A letter is one byte: in UTF-8 the bytes that
 * are common to a script compress so well that plain text in Georgian, Bengali or Burmese has a ratio above 2.4.
 */
export function compressionOf(text: string): number {
  const bytes = Uint8Array.from([...text].flatMap(bytesOf))
  return bytes.length === 0 ? 0 : bytes.length / (Bun.deflateSync(bytes).length + 6)
}

const firstIdeograph = 0x2e80

function bytesOf(character: string): number[] {
  const code = character.codePointAt(0) ?? 0
  return code < firstIdeograph ? [code & 255] : [(code >> 8) & 255, code & 255]
}

/**
 * Finds a loop at the end of the tokens: a run of up to 24 tokens, repeated `times` times. Returns how many tokens to
 * keep, which includes the first round, or null.
 */
export function loopStart(tokens: readonly number[], times = 4): number | null {
  const length = tokens.length
  for (let period = 1; period <= 24; period++) {
    // People do repeat one token four times ("no, no, no, no"), so short runs need more rounds.
    const rounds = Math.max(times, Math.ceil(10 / period))
    if (period * rounds > length) continue
    let same = 0
    while (same < length - period && tokens[length - 1 - same] === tokens[length - 1 - same - period]) same++
    if (same >= period * (rounds - 1)) return length - same
  }
  return null
}
