// Voice prints to people: agglomerative clustering by the mean distance between groups, in blocks whose groups are
// clustered again, so that ten hours need no matrix of everything against everything.
//
// The mean over all pairs of two groups is one less the product of their centroids, so a group is its centroid and
// its size, and joining blocks loses nothing. The distance of the centroids themselves, as pyannote counts it, shrinks
// as the prints of a voice scatter: on short or noisy sound everybody becomes one (scripts/bench/diarize.ts).

/** Voice prints that are taken for one voice: the sum of their vectors, and how many they are. */
export type Group = { sum: Float32Array; count: number }

export type ClusterOptions = {
  /** Mean cosine distance between the prints of two groups from which they are two voices. */
  threshold: number
  /** Fewer prints than this make no voice of their own. */
  least: number
  /** How many voices are expected; null when nobody says. */
  expected: number | null
}

/** Prints of one block; the matrix of one has this squared. */
const blockSize = 1200
/** What an expectation may make of the threshold. A voice apart from all others by more than `loose` stays one. */
const prior = { strict: 0.8, loose: 1.5 }

/**
 * The centroids of the voices among unit vectors, longest heard first. Only vectors that may form a voice go in;
 * what becomes of the others is for the caller to say.
 */
export function findVoices(vectors: readonly Float32Array[], options: ClusterOptions): Float32Array[] {
  if (vectors.length === 0) return []
  const least = Math.min(options.least, Math.max(1, Math.round(vectors.length / 10)))
  const isVoice = ({ count }: Group) => count >= least
  const groups = groupsOf(vectors, isVoice, options).toSorted((one, other) => other.count - one.count)
  const voices = groups.filter(isVoice)
  return (voices.length > 0 ? voices : groups.slice(0, 1)).map(each => unit(each.sum))
}

function groupsOf(
  vectors: readonly Float32Array[],
  isVoice: (group: Group) => boolean,
  { threshold, expected }: ClusterOptions,
): Group[] {
  if (expected === null) return link(inBlocks(vectors, threshold), threshold)
  let best: Group[] = []
  let least = Number.POSITIVE_INFINITY
  let reached = 0
  link(inBlocks(vectors, threshold * prior.strict), threshold * prior.loose, (groups, next) => {
    // These groups are what every threshold from the last join to the next one gives.
    const off = reached > threshold ? reached / threshold : next < threshold ? threshold / next : 1
    reached = Math.max(reached, next)
    const found = groups()
    const miss = Math.abs(found.filter(isVoice).length - expected) + off / 100
    if (miss < least) [best, least] = [found, miss]
  })
  return best
}

function inBlocks(vectors: readonly Float32Array[], limit: number): Group[] {
  let groups: Group[] = vectors.map(sum => ({ sum, count: 1 }))
  for (;;) {
    if (groups.length <= blockSize) return link(groups, limit)
    const joined: Group[] = []
    for (let at = 0; at < groups.length; at += blockSize)
      joined.push(...link(groups.slice(at, at + blockSize), limit))
    // Many odd prints may stay alone; those heard least cannot be a voice, and go.
    if (joined.length > 0.7 * groups.length)
      return joined.toSorted((one, other) => other.count - one.count).slice(0, blockSize)
    groups = joined
  }
}

/**
 * Joins the two nearest groups until none are nearer than the limit. `onStep` may see the
 * groups before the first join and after each one, with the distance at which the next would be.
 */
export function link(
  given: readonly Group[],
  limit: number,
  onStep: (groups: () => Group[], next: number) => void = () => {},
): Group[] {
  const groups: (Group | null)[] = [...given]
  const count = groups.length
  const centres = given.map(centreOf)
  const distances = new Float32Array(count * count)
  const set = (one: number, other: number, value: number) => {
    distances[one * count + other] = value
    distances[other * count + one] = value
  }
  for (let one = 0; one < count; one++)
    for (let other = 0; other < one; other++) set(one, other, 1 - dot(centres[one]!, centres[other]!))

  // The nearest of each group, and a distance that none of the others is nearer than: a join may leave it too
  // small, and then it is looked up again, but only once it is the smallest of all.
  const nearest = new Int32Array(count)
  const low = new Float32Array(count)
  const look = (one: number) => {
    low[one] = Number.POSITIVE_INFINITY
    for (let other = 0; other < count; other++) {
      if (other === one || !groups[other] || distances[one * count + other]! >= low[one]!) continue
      low[one] = distances[one * count + other]!
      nearest[one] = other
    }
  }
  for (let one = 0; one < count; one++) look(one)
  const living = () => groups.filter(each => each !== null)

  for (;;) {
    let first = 0
    for (;;) {
      for (let one = 0; one < count; one++)
        if (groups[one] && (!groups[first] || low[one]! < low[first]!)) first = one
      if (low[first] === Number.POSITIVE_INFINITY) break
      if (groups[nearest[first]!] && distances[first * count + nearest[first]!] === low[first]) break
      look(first)
    }
    onStep(living, low[first] ?? Number.POSITIVE_INFINITY)
    if (count === 0 || low[first]! >= limit) return living()
    const second = nearest[first]!
    const [one, other] = [groups[first]!, groups[second]!]
    const whole = joined(one, other)
    groups[first] = whole
    groups[second] = null
    const [share, rest] = [one.count / whole.count, other.count / whole.count]
    for (let third = 0; third < count; third++) {
      if (!groups[third] || third === first) continue
      const [left, right] = [distances[third * count + first]!, distances[third * count + second]!]
      set(first, third, share * left + rest * right)
      if (distances[third * count + first]! >= low[third]!) continue
      low[third] = distances[third * count + first]!
      nearest[third] = first
    }
    look(first)
  }
}

function joined(one: Group, other: Group): Group {
  return {
    sum: one.sum.map((value, at) => value + other.sum[at]!),
    count: one.count + other.count,
  }
}

function centreOf({ sum, count }: Group): Float32Array {
  return sum.map(value => value / count)
}

/** The vector with a length of one. */
export function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector)) || 1
  return vector.map(value => value / length)
}

export function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0
  for (let at = 0; at < one.length; at++) sum += one[at]! * other[at]!
  return sum
}
