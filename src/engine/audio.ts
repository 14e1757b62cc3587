// The units of time in the engine: samples (16,000 per second), mel frames (10 ms) and model frames (20 ms).

export const sampleRate = 16_000
export const samplesPerMelFrame = 160
export const samplesPerFft = 400
export const windowSeconds = 30
export const windowSamples = windowSeconds * sampleRate
export const windowMelFrames = windowSamples / samplesPerMelFrame
/**
 * The number of model frames in a window. A model frame (20 ms) is two mel frames, because the encoder has a stride of
 * 2.
 */
export const windowFrames = windowMelFrames / 2
export const samplesPerFrame = 2 * samplesPerMelFrame
export const framesPerSecond = sampleRate / samplesPerFrame
/** A frame embedding is a vector that represents the voice in this number of model frames (20 ms each). */
export const framesPerEmbedding = 2

/** The shortest pause, in samples, that ends an utterance even inside a sentence. */
export const utterancePause = 1.2 * sampleRate

/**
 * Yields one section of the sound, or the whole sound if `section` is undefined. Does not read the sound after the
 * section.
 */
export async function* cutSection(
  sound: AsyncIterable<Float32Array>,
  section?: { fromMs: number; toMs: number },
): AsyncGenerator<Float32Array> {
  if (section === undefined) {
    yield* sound
    return
  }
  const from = Math.round((section.fromMs * sampleRate) / 1000)
  const to = Math.round((section.toMs * sampleRate) / 1000)
  let at = 0
  for await (const part of sound) {
    const wanted = part.subarray(Math.max(0, from - at), Math.max(0, to - at))
    at += part.length
    if (wanted.length > 0) yield wanted
    if (at >= to) return
  }
}

/**
 * Rounds a number of samples down to a whole millisecond, and returns the result in samples. The length for which the
 * caller pays is rounded in the same way, so the transcript has the same length.
 */
export function wholeMilliseconds(samples: number): number {
  return samples - (samples % (sampleRate / 1000))
}

export function seconds(samples: number): number {
  return samples / sampleRate
}
