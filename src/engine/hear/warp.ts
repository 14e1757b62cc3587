// Dynamic time warping (DTW): finds the best monotonic path through a matrix. In each row of the matrix, the path stays
// within the band of this row, which is a range of columns.

/**
 * The range of columns that a path may use in one row of a matrix: from `begin` (inclusive) to `end` (exclusive). A row
 * is a token, and a column is a frame of the sound. The path shows at which frames each token is spoken.
 */
export type Band = { begin: number; end: number }

/**
 * One row of the matrix through which a path is searched. `values` has one value for each column of the band, which is
 * the range of columns that the path may use in this row.
 */
export type BandedRow = Band & { values: Float32Array }

export type Path = { cells: { row: number; column: number }[]; sum: number }

/**
 * Finds a path through a matrix (dynamic time warping) that never goes back to an earlier row or column. Each row has
 * values only in its band, which is a range of columns. Returns the path with the highest sum of values, from the first
 * column of the first row to the last column of the last row. The band of each row must begin inside the band of the
 * previous row, or directly after the band of the previous row.
 */
export function warp(rows: readonly BandedRow[]): Path {
  const traced: Traced[] = []
  let above: { begin: number; sums: Float64Array } | null = null
  for (const { begin, end, values } of rows) {
    const sums = new Float64Array(end - begin)
    const steps = new Uint8Array(end - begin)
    // The band of this row begins at column `begin`, which is `shift` columns after the start of the band of the row
    // above.
    const shift = above ? begin - above.begin : 0
    for (let at = 0; at < sums.length; at++) {
      let best = above === null && at === 0 ? 0 : Number.NEGATIVE_INFINITY
      let step = diagonal
      if (above) {
        const over = at + shift
        if (over > 0 && over <= above.sums.length) best = above.sums[over - 1]!
        if (over < above.sums.length && above.sums[over]! > best) {
          best = above.sums[over]!
          step = upwards
        }
      }
      if (at > 0 && sums[at - 1]! > best) {
        best = sums[at - 1]!
        step = leftwards
      }
      sums[at] = best + values[at]!
      steps[at] = step
    }
    above = { begin, sums }
    traced.push({ begin, end, steps })
  }
  return { cells: walkBack(traced), sum: above?.sums.at(-1) ?? 0 }
}

/**
 * One row of the matrix through which dynamic time warping searches the best path. The path uses only the columns from
 * `begin` to `end` (the band of the row). For each of these columns, `steps` says where the previous cell of the path
 * is: one row up and one column left (`diagonal`), one row up (`upwards`), or one column left (`leftwards`).
 */
type Traced = Band & { steps: Uint8Array }

const [diagonal, upwards, leftwards] = [0, 1, 2]

function walkBack(rows: readonly Traced[]): Path['cells'] {
  const cells: Path['cells'] = []
  let column = (rows.at(-1)?.end ?? 0) - 1
  for (const [row, { begin, steps }] of [...rows.entries()].toReversed()) {
    for (let step = leftwards; step === leftwards; ) {
      cells.push({ row, column })
      if (row === 0 && column === begin) break
      step = steps[column - begin]!
      if (step !== upwards) column--
    }
  }
  return cells.reverse()
}

/** Returns, for each row of the matrix, the first column in which the path (the result of `warp`) has a cell. */
export function startsOf({ cells }: Path): number[] {
  const starts: number[] = []
  for (const { row, column } of cells) starts[row] ??= column
  return starts
}
