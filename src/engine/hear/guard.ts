// Whether what was decoded can be believed: the signs of a model that loops, guesses or hears words in noise.

/** As Whisper has them; peers that decode in batches leave them out, and loop. */
export const guards = {
  compressionMax: 2.4,
  logProbabilityMin: -1,
  noSpeechMin: 0.6,
  temperatures: [0, 0.2, 0.4, 0.6, 0.8, 1],
} as const

export type Decoded = {
  text: string
  logProbability: number
  noSpeech: number
  looped: boolean
  /** Seconds of speech that the window holds, as voice detection has it. */
  speechSeconds: number
}

export type Verdict = 'good' | 'silence' | 'again'

export function judge({ text, logProbability, noSpeech, looped, speechSeconds }: Decoded): Verdict {
  if (noSpeech > guards.noSpeechMin && logProbability < guards.logProbabilityMin) return 'silence'
  if (looped || compressionOf(text) > guards.compressionMax) return 'again'
  if (logProbability < guards.logProbabilityMin) return 'again'
  if (text.trim() === '' && speechSeconds > 2 && noSpeech < guards.noSpeechMin) return 'again'
  return 'good'
}

/** How much smaller the text gets when repetition is squeezed out of it. */
export function compressionOf(text: string): number {
  const bytes = Buffer.from(text)
  return bytes.length === 0 ? 0 : bytes.length / (Bun.deflateSync(bytes).length + 6)
}

/**
 * Where the tokens begin to go round in circles: a run of up to 24 tokens said `times` over at the end. Gives
 * how many tokens to keep (the first round), or null.
 */
export function loopStart(tokens: readonly number[], times = 4): number | null {
  const length = tokens.length
  for (let period = 1; period <= 24; period++) {
    // One token alone may well be said four times ("no, no, no, no"); ask for more of the short ones.
    const rounds = Math.max(times, Math.ceil(10 / period))
    if (period * rounds > length) continue
    let same = 0
    while (same < length - period && tokens[length - 1 - same] === tokens[length - 1 - same - period]) same++
    if (same >= period * (rounds - 1)) return length - same
  }
  return null
}
