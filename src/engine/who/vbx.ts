// VBx: clusters embeddings by variational Bayes (Landini et al., 2022), with the parameters of pyannote's community-1
// pipeline. Each embedding and each speaker is a point in a space. The PLDA model (probabilistic linear discriminant
// analysis) defines this space so that the embeddings of one speaker are near the point of the speaker. VBx starts with
// too many speakers. In each round, a superfluous speaker loses embeddings to the other speakers, until no embeddings
// belong to this speaker.

/**
 * Two weights of VBx, which are called `Fa` and `Fb` in the paper on VBx: the weight of the likelihood of the
 * embeddings, and the weight of the prior of the speakers. The likelihood has a weight below 1, because neighbouring
 * embeddings are not independent.
 */
const likelihoodWeight = 0.07
const priorWeight = 0.8
/**
 * The preference for the clusters with which VBx starts, as a natural logarithm. Each cluster represents one speaker.
 * At the start, an embedding most probably belongs to the speaker of its own cluster. This probability is e^7 (about
 * 1,100) times the probability of each other speaker.
 */
const startPreference = 7
/**
 * The maximum number of rounds of the VBx algorithm. In measurements with scripts/bench/cluster.ts, too many speakers
 * remained after 20 rounds, and real speakers were lost after 300 rounds.
 */
const roundsMax = 40
/** VBx ends when the lower bound of the likelihood grows by less than this value in a round. */
const gainMin = 1e-4

/**
 * `memberships` has, for each embedding, the share (0 to 1) that belongs to each speaker. `shares` has, for each
 * speaker, the mean of these shares over all embeddings. In this mean, an embedding counts with its weight.
 */
type Assignment = { memberships: Float64Array[]; shares: Float64Array }

/**
 * Assigns embeddings to speakers by VBx, an algorithm that clusters embeddings by variational Bayes. An embedding is a
 * vector that represents a voice. VBx works in rounds. Each round estimates how much of each embedding belongs to each
 * speaker.
 *
 * Three lists have one element for each embedding. `features` has the embeddings themselves, transformed by the PLDA
 * model. `weights` has their weights: an embedding with the weight n counts as n equal embeddings. `start` has the
 * index of the speaker to which the embedding belongs before the first round. `between` has one element for each
 * dimension of the embeddings instead: the variance between different voices.
 */
export function vbx(
  features: readonly Float64Array[],
  weights: readonly number[],
  between: Float64Array,
  start: readonly number[],
): Assignment {
  const count = Math.max(...start) + 1
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
    memberships = features.map((feature, index) => {
      // A loop is faster than `Float64Array.from` with a function.
      const scores = new Float64Array(count)
      for (let speaker = 0; speaker < count; speaker++)
        scores[speaker] =
          likelihoodWeight * productOf(feature, means[speaker]!, offsets[speaker]!) + logShares[speaker]!
      const { own, sum } = softmax(scores)
      likelihood += weights[index]! * sum
      for (let speaker = 0; speaker < count; speaker++)
        next[speaker]! += (weights[index]! * own[speaker]!) / total
      return own
    })
    shares = next
    const gain = likelihood + penalty - bound
    bound = likelihood + penalty
    if (gain < gainMin) break
  }
  return { memberships, shares }
}

/** Returns `offset` plus the dot product of the two vectors. */
function productOf(feature: Float64Array, mean: Float64Array, offset: number): number {
  // Four sums are faster than one: an addition does not wait for the one before.
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
 * Estimates each speaker from the embeddings that belong to the speaker. The estimate is a normal distribution, the
 * posterior distribution of the speaker. It is returned as `means` and `offsets`, which give the score of an embedding
 * for a speaker: the dot product of the embedding's features and the speaker's `means`, plus the speaker's `offsets`.
 * `penalty` is a part of the lower bound of the likelihood (see `gainMin`): -`priorWeight` times the sum of the KL
 * divergences of the posterior distributions from the prior.
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

/** Returns, for each speaker, the weighted sum of the embeddings of the speaker, and the sum of the weights. */
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
 * Returns the softmax of the scores (`own`), and the logarithm of the sum of their exponentials (`sum`). A share that
 * is less than e^-60 times the highest share is set to 0. Most shares are so small, and their exponentials would take a
 * third of the time of VBx.
 */
function softmax(scores: Float64Array): { own: Float64Array; sum: number } {
  // A loop is faster than `Math.max` with hundreds of arguments.
  let highest = Number.NEGATIVE_INFINITY
  for (let at = 0; at < scores.length; at++) if (scores[at]! > highest) highest = scores[at]!
  const own = new Float64Array(scores.length)
  let total = 0
  for (let at = 0; at < own.length; at++) {
    const difference = scores[at]! - highest
    if (difference < -60) continue
    own[at] = Math.exp(difference)
    total += own[at]!
  }
  for (let at = 0; at < own.length; at++) own[at]! /= total
  return { own, sum: highest + Math.log(total) }
}
