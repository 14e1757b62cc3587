// Subtracts steady noise from the power in mel bands.

/** The share of the frames, the quietest ones, that are taken for noise alone. */
const quietShare = 0.08
/** The noise is subtracted this many times, because its power varies from frame to frame. */
const oversubtraction = 2
/** The share of the power that remains at least. */
const remainingShare = 0.02

/** Returns the power, frames × `bands`, without the mean power of the quietest frames. */
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
