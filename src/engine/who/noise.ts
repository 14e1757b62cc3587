// Spectral subtraction: removes steady noise from the power in mel bands.

/** The share of the frames (0 to 1) in which the noise is measured. These are the quietest frames. */
const quietShare = 0.08
/**
 * The measured noise is multiplied by this factor before it is subtracted. The measured noise is a mean, and many
 * frames have more noise than the mean.
 */
const oversubtraction = 2
/** The spectral floor: at least this share of the original power remains in each band. */
const remainingShare = 0.02

/** Subtracts the noise from each frame. `power` and the result have `bands` values for each frame. */
export function withoutNoise(power: Float32Array, bands: number): Float32Array {
  const frames = power.length / bands
  const loudness = new Float32Array(frames)
  for (let at = 0; at < power.length; at++) loudness[Math.floor(at / bands)]! += power[at]!
  const count = Math.max(1, Math.floor(quietShare * frames))
  const quietest = [...loudness.keys()]
    .sort((one, other) => loudness[one]! - loudness[other]!)
    .slice(0, count)
  const noise = new Float32Array(bands)
  for (const frame of quietest)
    for (let band = 0; band < bands; band++) noise[band]! += power[frame * bands + band]! / count
  return power.map((value, at) =>
    Math.max(remainingShare * value, value - oversubtraction * noise[at % bands]!),
  )
}
