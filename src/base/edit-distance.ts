// The edit distance (Levenshtein) of two sequences, such as two names or two lists of words.

/** Returns the minimum number of insertions, deletions and substitutions that turn `one` into `other`. */
export function editDistance<Item>(one: ArrayLike<Item>, other: ArrayLike<Item>): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let from = 0; from < one.length; from++) {
    const above = row
    row = [from + 1]
    for (let to = 0; to < other.length; to++) {
      const replaced = (above[to] ?? 0) + (one[from] === other[to] ? 0 : 1)
      row.push(Math.min(replaced, (above[to + 1] ?? 0) + 1, (row[to] ?? 0) + 1))
    }
  }
  return row.at(-1) ?? 0
}

/**
 * Returns the first name that contains `given`, or else the name with the smallest edit distance. Returns null if
 * `names` is empty. Ignores case.
 */
export function nearest(given: string, names: readonly string[]): string | null {
  const wanted = given.toLowerCase()
  const whole = names.find(name => name.toLowerCase().includes(wanted))
  if (whole !== undefined) return whole
  const distances = names.map(name => editDistance(wanted, name.toLowerCase()))
  return names[distances.indexOf(Math.min(...distances))] ?? null
}

/** Returns the name that the user probably meant with the misspelt `given`, or null if no name is similar. */
export function findSimilar(given: string, names: readonly string[]): string | null {
  const name = nearest(given, names)
  if (name === null) return null
  const isStart = given.length > 1 && name.startsWith(given)
  const isClose =
    editDistance(given.toLowerCase(), name.toLowerCase()) <= Math.max(1, Math.floor(given.length / 3))
  return isStart || isClose || hasSameLetters(given, name) ? name : null
}

/** Returns true if both words have the same letters in any order, such as `prot` and `port`. */
function hasSameLetters(one: string, other: string): boolean {
  return [...one].sort().join('') === [...other].sort().join('')
}
