// VBx: clusters embeddings by variational Bayes (Landini et al., 2022). Each speaker is a point in the space of the
// PLDA model. VBx starts with too many speakers. In each round, a superfluous speaker loses embeddings to the other
// speakers. At the end, speakers without embeddings are removed, and the right number of speakers remains. The
// parameters are the parameters of pyannote's community-1 pipeline.

/**
 * `likelihoodWeight` is the weight of the likelihood (`Fa` in the paper), and `priorWeight` the weight of the speakers'
 * prior (`Fb`). `likelihoodWeight` is below 1, because neighbouring embeddings are not independent.
 */
const likelihoodWeight = 0.07
const priorWeight = 0.8
/**
 * Before the first round, each embedding belongs to the speaker of its own cluster: its score for this speaker is this
 * number of nats higher than its score for any other speaker.
 */
const startPreference = 7
/**
 * The maximum number of rounds. Speakers lose embeddings slowly. In measurements with scripts/bench/cluster.ts,
 * superfluous speakers remained after 20 rounds, and real speakers were lost after 300 rounds.
 */
const roundsMax = 40
/** The rounds end when the lower bound of the likelihood grows by less than this value in a round. */
const gainMin = 1e-4

/**
 * `memberships` has an array for each embedding: how much of the embedding belongs to each speaker. `shares` is each
 * speaker's share of all embeddings.
 */
type Assignment = { memberships: Float64Array[]; shares: Float64Array }

/**
 * Returns how much of each embedding belongs to each speaker after the last round. `start` holds the number of each
 * embedding's speaker before the first round.
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
    const next = new Float64Array(count)
    let likelihood = 0
    memberships = features.map((feature, index) => {
      const scores = Float64Array.from(means, (mean, speaker) => {
        let product = offsets[speaker]!
        for (let at = 0; at < feature.length; at++) product += feature[at]! * mean[at]!
        return likelihoodWeight * product + Math.log(shares[speaker]! + 1e-8)
      })
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

/**
 * Returns the posterior of each speaker. The score of an embedding for a speaker is the dot product of the speaker's
 * `means` and the features of the embedding, plus the speaker's `offsets`. `penalty` is the negative divergence of all
 * speakers from their prior.
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
  const count = memberships[0]?.length ?? 0
  const means = Array.from({ length: count }, (_, speaker) => {
    const sum = new Float64Array(between.length)
    let weight = 0
    for (const [index, feature] of features.entries()) {
      const part = weights[index]! * memberships[index]![speaker]!
      weight += part
      if (part > 1e-12) for (let at = 0; at < sum.length; at++) sum[at]! += part * feature[at]!
    }
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

/**
 * Computes the softmax of the scores. `own` holds each score's share of the total. `sum` is the logarithm of the sum of
 * the exponentials of all scores.
 */
function softmax(scores: Float64Array): { own: Float64Array; sum: number } {
  const highest = Math.max(...scores)
  const powers = scores.map(score => Math.exp(score - highest))
  const total = powers.reduce((sum, power) => sum + power, 0)
  return { own: powers.map(power => power / total), sum: highest + Math.log(total) }
}
