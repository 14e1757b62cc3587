// VBx: clusters embeddings by variational Bayes (Landini et al., 2022), with the parameters of pyannote's community-1
// pipeline. VBx starts with too many speakers. Superfluous speakers lose their embeddings to other speakers in each
// round.

/**
 * The weights of the likelihood of the embeddings (`Fa` in the paper) and of the prior of the speakers (`Fb`). The
 * likelihood has a weight below 1, because neighbouring embeddings are not independent.
 */
const likelihoodWeight = 0.07
const priorWeight = 0.8
/**
 * The preference of an embedding for the cluster that it has before the first round, as a natural logarithm. This
 * cluster is e^7 (about 1,100) times as probable as each other cluster.
 */
const startPreference = 7
/**
 * The maximum number of rounds. In measurements with scripts/bench/cluster.ts, too many speakers remained after 20
 * rounds, and real speakers were lost after 300 rounds.
 */
const roundsMax = 40
/**
 * Each round divides each embedding among the speakers: every speaker gets a share of the embedding. A speaker whose
 * share, as a mean over all embeddings, is at most this value is superfluous, and is left out of the next rounds.
 */
const lostShare = 1e-9
/** The clustering ends when the lower bound of the likelihood grows by less than this value in a round. */
const gainMin = 1e-4

/**
 * `memberships` has, for each embedding, the part (0 to 1) of the embedding that belongs to each speaker. `shares` has,
 * for each speaker, the mean of these parts over all embeddings. An embedding with the weight n counts n times.
 */
type Assignment = { memberships: Float64Array[]; shares: Float64Array }

/**
 * Assigns embeddings to speakers by variational Bayes. Each round estimates how much of each embedding belongs to each
 * speaker.
 *
 * `features` has the embeddings, transformed by the PLDA model. An embedding with the weight n counts as n equal
 * embeddings. `start` has the index of each embedding's speaker before the first round. `between` has the variance
 * between different voices, for each dimension.
 */
export function vbx(
  features: readonly Float64Array[],
  weights: readonly number[],
  between: Float64Array,
  start: readonly number[],
): Assignment {
  let count = Math.max(...start) + 1
  let shares: Float64Array = new Float64Array(count).fill(1 / count)
  let memberships: Float64Array[] = start.map(own => {
    const likely = Math.exp(startPreference)
    const total = likely + count - 1
    return Float64Array.from({ length: count }, (_, speaker) => (speaker === own ? likely : 1) / total)
  })
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let bound = Number.NEGATIVE_INFINITY
  for (let round = 0; round < roundsMax; round++) {
    const { means, offsets, penalty } = speakersFrom(features, weights, between, memberships)
    const logShares = shares.map(share => Math.log(share + 1e-8))
    const next = new Float64Array(count)
    let likelihood = 0
    for (const [index, own] of memberships.entries()) {
      const feature = features[index]!
      for (let speaker = 0; speaker < count; speaker++)
        own[speaker] =
          likelihoodWeight * productOf(feature, means[speaker]!, offsets[speaker]!) + logShares[speaker]!
      likelihood += weights[index]! * softmax(own)
      for (let speaker = 0; speaker < count; speaker++)
        next[speaker]! += (weights[index]! * own[speaker]!) / total
    }
    const kept = [...next.keys()].filter(speaker => next[speaker]! > lostShare)
    if (kept.length < count)
      memberships = memberships.map(own => Float64Array.from(kept, speaker => own[speaker]!))
    shares = Float64Array.from(kept, speaker => next[speaker]!)
    count = kept.length
    const gain = likelihood + penalty - bound
    bound = likelihood + penalty
    if (gain < gainMin) break
  }
  return { memberships, shares }
}

/** Returns `offset` plus the dot product of the two vectors. */
function productOf(feature: Float64Array, mean: Float64Array, offset: number): number {
  // Four sums are faster than one sum, because the CPU can do their additions at the same time.
  const inFours = feature.length - (feature.length % 4)
  let one = offset
  let two = 0
  let three = 0
  let four = 0
  for (let at = 0; at < inFours; at += 4) {
    one += feature[at]! * mean[at]!
    two += feature[at + 1]! * mean[at + 1]!
    three += feature[at + 2]! * mean[at + 2]!
    four += feature[at + 3]! * mean[at + 3]!
  }
  for (let at = inFours; at < feature.length; at++) one += feature[at]! * mean[at]!
  return one + two + three + four
}

/**
 * Estimates the voice of each speaker, as a posterior distribution, from the embeddings of the speaker. The score of an
 * embedding for a speaker is its dot product with the speaker's `means`, plus the speaker's `offsets`.
 *
 * The prior is the distribution of a voice that is assumed before any embedding is known. A KL divergence measures how
 * much a speaker's distribution differs from the prior. `penalty` is -`priorWeight` times the sum of these divergences
 * over all speakers. `vbx` adds `penalty` to the log-likelihood of the embeddings. The sum is the lower bound that
 * tells `vbx` when to end (see `gainMin`).
 */
function speakersFrom(
  features: readonly Float64Array[],
  weights: readonly number[],
  between: Float64Array,
  memberships: readonly Float64Array[],
): { means: Float64Array[]; offsets: number[]; penalty: number } {
  const ratio = likelihoodWeight / priorWeight
  const roots = between.map(Math.sqrt)
  const offsets: number[] = []
  let penalty = 0
  const { sums, totals } = sumsOf(features, weights, memberships)
  const means = sums.map((sum, speaker) => {
    const weight = totals[speaker]!
    let offset = 0
    const mean = sum.map((value, at) => {
      const variance = 1 / (1 + ratio * weight * between[at]!)
      const own = ratio * variance * value * roots[at]!
      offset -= 0.5 * (variance + own * own) * between[at]!
      penalty += 0.5 * priorWeight * (Math.log(variance) - variance - own * own + 1)
      return own * roots[at]!
    })
    offsets.push(offset)
    return mean
  })
  return { means, offsets, penalty }
}

/** Returns, for each speaker, the weighted sum of the embeddings, and the sum of the weights. */
function sumsOf(
  features: readonly Float64Array[],
  weights: readonly number[],
  memberships: readonly Float64Array[],
): { sums: Float64Array[]; totals: Float64Array } {
  const count = memberships[0]?.length ?? 0
  const sums = Array.from({ length: count }, () => new Float64Array(features[0]?.length ?? 0))
  const totals = new Float64Array(count)
  for (let index = 0; index < features.length; index++) {
    const feature = features[index]!
    const own = memberships[index]!
    for (let speaker = 0; speaker < count; speaker++) {
      const part = weights[index]! * own[speaker]!
      totals[speaker]! += part
      if (part <= 1e-12) continue
      const sum = sums[speaker]!
      for (let at = 0; at < sum.length; at++) sum[at]! += part * feature[at]!
    }
  }
  return { sums, totals }
}

/**
 * Replaces each score by its softmax: e^score, divided by the sum of e^score over all scores. Returns the logarithm of
 * this sum. A softmax below e^-60 times the highest softmax becomes 0. This saves a third of the time of the
 * clustering, because most values are that small and need no exponential.
 */
function softmax(scores: Float64Array): number {
  // A loop is faster than `Math.max` with hundreds of arguments.
  let highest = Number.NEGATIVE_INFINITY
  for (let at = 0; at < scores.length; at++) if (scores[at]! > highest) highest = scores[at]!
  let total = 0
  for (let at = 0; at < scores.length; at++) {
    const difference = scores[at]! - highest
    scores[at] = difference < -60 ? 0 : Math.exp(difference)
    total += scores[at]!
  }
  for (let at = 0; at < scores.length; at++) scores[at]! /= total
  return highest + Math.log(total)
}
