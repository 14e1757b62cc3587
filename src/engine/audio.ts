// The units of sound in the engine: samples, mel frames and model frames. `seconds` converts samples for messages and
// for the transcript.

export const sampleRate = 16_000
export const samplesPerMelFrame = 160
export const samplesPerFft = 400
export const windowSeconds = 30
export const windowSamples = windowSeconds * sampleRate
export const windowMelFrames = windowSamples / samplesPerMelFrame
/** A model frame is 20 ms, because the second convolution of the encoder has a stride of 2. */
export const windowFrames = windowMelFrames / 2
export const samplesPerFrame = 2 * samplesPerMelFrame
export const framesPerSecond = sampleRate / samplesPerFrame

/** A pause of this length ends an utterance, even without a full stop. */
export const utterancePause = 1.2 * sampleRate

export function seconds(samples: number): number {
  return samples / sampleRate
}
