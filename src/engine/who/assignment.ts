// Assigns a speaker to each voice of a view, which is ten seconds of sound.

/**
 * Chooses a speaker (a column of `likeness`) for each voice (a row) in a view, which is ten seconds of sound. Each row
 * gets a different column. Of all such choices, takes the one whose values have the largest sum. If there are fewer
 * columns than rows, each row gets the column of its highest value, and rows may share a column.
 */
export function assign(likeness: readonly (readonly number[])[]): number[] {
  const columnCount = likeness[0]?.length ?? 0
  const shared = columnCount < likeness.length
  // With n rows, the n best columns of each row are enough, because the other rows take at most n - 1 of these columns.
  const candidates = likeness.map(row =>
    row
      .map((value, column) => ({ value, column }))
      .toSorted((one, other) => other.value - one.value)
      .slice(0, shared ? 1 : likeness.length),
  )
  let best: number[] = []
  let bestSum = Number.NEGATIVE_INFINITY
  const choose = (row: number, chosen: number[], sum: number) => {
    const columns = candidates[row]
    if (!columns) {
      if (sum > bestSum) {
        best = chosen
        bestSum = sum
      }
      return
    }
    for (const { value, column } of columns)
      if (shared || !chosen.includes(column)) choose(row + 1, [...chosen, column], sum + value)
  }
  choose(0, [], 0)
  return best
}
