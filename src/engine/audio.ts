// The arithmetic of sound and frames that the whole engine shares. Time is counted in samples, mel frames or model
// frames; `seconds` converts it for people and for the transcript.

export const sampleRate = 16_000
export const samplesPerMelFrame = 160
export const samplesPerFft = 400
export const windowSeconds = 30
export const windowSamples = windowSeconds * sampleRate
export const windowMelFrames = windowSamples / samplesPerMelFrame
/** The encoder's first layers halve the time: one of its frames is 20 ms. */
export const windowFrames = windowMelFrames / 2
export const samplesPerFrame = 2 * samplesPerMelFrame
export const framesPerSecond = sampleRate / samplesPerFrame

/** A pause this long ends an utterance, and so a sentence, whatever the text says. */
export const utterancePause = 1.2 * sampleRate

export function seconds(samples: number): number {
  return samples / sampleRate
}
