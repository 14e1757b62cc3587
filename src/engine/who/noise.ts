// Spectral subtraction: removes steady noise from the power in mel bands.

/** The noise is measured in the quietest frames. They are this share (0 to 1) of all frames. */
const quietShare = 0.08
/**
 * The measured noise is multiplied by this factor before it is subtracted, because many frames have more noise than the
 * mean.
 */
const oversubtraction = 2
/** The spectral floor: at least this share of the original power remains in each band. */
const remainingShare = 0.02

/**
 * Returns a copy of the frames without the noise. A frame has `width` values. The first `bands` of them are the power
 * in each band, and only these change.
 */
export function withoutNoise(features: Float32Array, width: number, bands: number): Float32Array {
  const frames = features.length / width
  const loudness = Float32Array.from({ length: frames }, (_, frame) => {
    let sum = 0
    for (let band = 0; band < bands; band++) sum += features[frame * width + band]!
    return sum
  })
  const count = Math.max(1, Math.floor(quietShare * frames))
  const quietest = [...loudness.keys()]
    .sort((one, other) => loudness[one]! - loudness[other]!)
    .slice(0, count)
  const noise = new Float32Array(bands)
  for (const frame of quietest)
    for (let band = 0; band < bands; band++) noise[band]! += features[frame * width + band]! / count
  const clean = features.slice()
  for (let from = 0; from < clean.length; from += width)
    for (let band = 0; band < bands; band++) {
      const power = clean[from + band]!
      clean[from + band] = Math.max(remainingShare * power, power - oversubtraction * noise[band]!)
    }
  return clean
}
