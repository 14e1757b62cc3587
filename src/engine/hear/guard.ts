// Checks a decoded text for three faults: a loop (text that repeats), a low probability, and words for sound without
// speech.

/**
 * The thresholds of the checks, and the temperatures of the attempts to decode a window. All values are from
 * openai/whisper. Many programs that decode windows in batches omit these checks. Their transcripts can then repeat
 * the same words many times.
 */
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
  /** The total length of the speech spans in the window, in seconds. */
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
 * Returns the compression ratio of a text: its length in bytes before deflate, divided by its length after deflate.
 * Repeated text has a high ratio.
 *
 * Before the compression, each letter is encoded as one byte, and each ideograph as two bytes. UTF-8 is not used,
 * because the letters of a script such as Georgian, Bengali or Burmese have the same first bytes in UTF-8. Normal text
 * in such a script would then have a ratio above 2.4, and would look like a loop.
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
 * Finds a loop at the end of the tokens: a sequence of 1 to 24 tokens that occurs at least `times` times, without other
 * tokens between. Returns the number of tokens up to the end of the first occurrence. Returns null if there is no loop.
 */
export function loopStart(tokens: readonly number[], times = 4): number | null {
  const length = tokens.length
  for (let period = 1; period <= 24; period++) {
    // By default, a sequence must occur four times. But people do say one word four times ("no, no, no, no"). So a
    // single token must occur ten times, and a sequence of two tokens must occur five times.
    const rounds = Math.max(times, Math.ceil(10 / period))
    if (period * rounds > length) continue
    let same = 0
    while (same < length - period && tokens[length - 1 - same] === tokens[length - 1 - same - period]) same++
    if (same >= period * (rounds - 1)) return length - same
  }
  return null
}
