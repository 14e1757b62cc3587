// Finds the pauses of speech in the samples, without a model. The benchmark `word-times` compares word times with these
// pauses.

/**
 * A pause in seconds. `from` is the end of the voice before the pause, and `to` is the start of the voice after the
 * pause.
 */
export type Pause = { from: number; to: number }

const rate = 16_000
const [hop, frame] = [0.01 * rate, 0.02 * rate]

/**
 * A frame is voice if its level is above a threshold: `overNoise` decibels above the noise level. The threshold is at
 * least `loud - belowLoudMax` and at most `loud - belowLoudMin`. The noise level is the 10th percentile of all levels,
 * and `loud` is the 95th percentile.
 */
const limits = { overNoise: 10, belowLoudMax: 30, belowLoudMin: 18 }
/**
 * The longest gap inside a stretch of voice, in steps of 10 ms. The silence inside a consonant such as p, t or k is
 * shorter.
 */
const gapMax = 10
/** The shortest stretch of voice, in steps of 10 ms. A shorter sound is usually a click of the lips or a breath. */
const voiceMin = 13
/** The minimum length of a pause, in seconds. A shorter gap between two stretches of voice is not returned. */
const pauseMin = 0.3

/**
 * Returns the pauses in a sound of several utterances. `from` is the start of an utterance in the sound, in seconds.
 * The silence before the first word is a pause too.
 */
export function pausesOf(utterances: readonly { samples: Int16Array; from: number }[]): Pause[] {
  const voices = utterances.flatMap(({ samples, from }) =>
    voicesOf(samples).map(voice => ({ from: from + voice.from, to: from + voice.to })),
  )
  return voices
    .map(({ from }, index): Pause => ({ from: voices[index - 1]?.to ?? 0, to: from }))
    .filter(({ from, to }) => to - from >= pauseMin)
}

/** Returns the stretches of voice, each with its start and its end in seconds. */
function voicesOf(samples: Int16Array): { from: number; to: number }[] {
  const levels = levelsOf(samples)
  const sorted = levels.toSorted()
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0
  const [noise, loud] = [at(0.1), at(0.95)]
  const least = Math.min(
    Math.max(noise + limits.overNoise, loud - limits.belowLoudMax),
    loud - limits.belowLoudMin,
  )
  const stretches: { first: number; end: number }[] = []
  for (const [index, level] of levels.entries()) {
    if (level <= least) continue
    const last = stretches.at(-1)
    if (last && index - last.end <= gapMax) last.end = index + 1
    else stretches.push({ first: index, end: index + 1 })
  }
  const seconds = (index: number) => (index * hop + hop / 2) / rate
  return stretches
    .filter(({ first, end }) => end - first >= voiceMin)
    .map(({ first, end }) => ({ from: seconds(first), to: seconds(end) }))
}

/** Returns the level of each frame of 20 ms in decibels. A frame begins every 10 ms. */
function levelsOf(samples: Int16Array): Float64Array {
  const count = Math.max(0, Math.floor((samples.length - frame) / hop) + 1)
  return Float64Array.from({ length: count }, (_, index) => {
    const part = samples.subarray(index * hop, index * hop + frame)
    const power = part.reduce((sum, sample) => sum + (sample / 32_768) ** 2, 0) / frame
    return 10 * Math.log10(power + 1e-12)
  })
}
