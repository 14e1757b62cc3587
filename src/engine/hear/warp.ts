// Dynamic time warping (DTW): finds the best monotonic path through a matrix. In each row, the path stays within a
// range of columns (the band).

/**
 * The columns that a path may use in one row of a matrix: from `begin` (inclusive) to `end` (exclusive). A row is a
 * token, and a column is a frame of the sound.
 */
export type Band = { begin: number; end: number }

/** One row of a matrix. `values` has one value for each column from `begin` to `end`. */
export type BandedRow = Band & { values: Float32Array }

export type Path = { cells: { row: number; column: number }[]; sum: number }

/**
 * Returns the path with the highest sum of values (dynamic time warping). The path goes from the first to the last
 * cell, and never back to an earlier row or column. Each row must begin between `begin` and `end` (inclusive) of the
 * previous row.
 */
export function warp(rows: readonly BandedRow[]): Path {
  const traced: Traced[] = []
  let above: { begin: number; sums: Float64Array } | null = null
  for (const { begin, end, values } of rows) {
    const sums = new Float64Array(end - begin)
    const steps = new Uint8Array(end - begin)
    // This row begins `shift` columns after the row above.
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
 * One row of the matrix. For each column from `begin` to `end`, `steps` says where the previous cell of the path is.
 * `diagonal` is one row up and one column left, `upwards` is one row up, and `leftwards` is one column left.
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

/** Returns the first column of the path in each row. */
export function startsOf({ cells }: Path): number[] {
  const starts: number[] = []
  for (const { row, column } of cells) starts[row] ??= column
  return starts
}
