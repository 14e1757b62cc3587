// Dynamic time warping of rows that take their turns in order, each within a band of columns.

/** Columns that a row may have: from `begin`, before `end`. */
export type Band = { begin: number; end: number }

/** A row's value at each column of its band. */
export type BandedRow = Band & { values: Float32Array }

export type Path = { cells: { row: number; column: number }[]; sum: number }

/**
 * The monotonic path from the first row's first column to the last row's last one with the greatest sum of values.
 * Bands only move forward, and each begins before or where the one above it ends.
 */
export function warp(rows: readonly BandedRow[]): Path {
  const traced: Traced[] = []
  let above: { begin: number; sums: Float64Array } | null = null
  for (const { begin, end, values } of rows) {
    const sums = new Float64Array(end - begin)
    const steps = new Uint8Array(end - begin)
    // Distance from the first column of the band above to the first one of this band.
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

/** The step by which the best path comes to each column of a row. */
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

/** The first column of each row. */
export function startsOf({ cells }: Path): number[] {
  const starts: number[] = []
  for (const { row, column } of cells) starts[row] ??= column
  return starts
}
