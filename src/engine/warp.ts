// Dynamic time warping: which row's turn it is at each column, when the turns come in order.

/** Columns that a row may have: from `begin`, before `end`. */
export type Band = { begin: number; end: number }

/** What each row is worth at each column of its band. */
export type Banded = { bands: readonly Band[]; values: readonly Float32Array[] }

export type Path = { rows: number[]; columns: number[]; sum: number }

/**
 * The monotonic path from the first row's first column to the last row's last one over which the values' sum is
 * greatest. Bands only move forward, and each begins before or where the one above it ends.
 */
export function warp({ bands, values }: Banded): Path {
  const came = bands.map(({ begin, end }) => new Uint8Array(end - begin))
  const sums = bands.map(({ begin, end }) => new Float64Array(end - begin))
  for (const [row, { begin, end }] of bands.entries()) {
    const above = bands[row - 1]
    for (let column = begin; column < end; column++) {
      const at = column - begin
      const left = at > 0 ? sums[row]![at - 1]! : Number.NEGATIVE_INFINITY
      let best = row === 0 && at === 0 ? 0 : Number.NEGATIVE_INFINITY
      let from = diagonal
      if (above) {
        const over = column - above.begin
        const [before, up] = [
          sums[row - 1]![over - 1],
          column < above.end ? sums[row - 1]![over]! : undefined,
        ]
        if (before !== undefined) best = before
        if (up !== undefined && up > best) [best, from] = [up, upwards]
      }
      if (left > best) [best, from] = [left, leftwards]
      sums[row]![at] = best + values[row]![at]!
      came[row]![at] = from
    }
  }
  return walkBack(bands, came, sums.at(-1)!.at(-1)!)
}

const [diagonal, upwards, leftwards] = [0, 1, 2]

function walkBack(bands: readonly Band[], came: readonly Uint8Array[], sum: number): Path {
  const [rows, columns]: [number[], number[]] = [[], []]
  let [row, column] = [bands.length - 1, bands.at(-1)!.end - 1]
  for (;;) {
    rows.push(row)
    columns.push(column)
    if (row === 0 && column === bands[0]!.begin) break
    const from = came[row]![column - bands[row]!.begin]!
    if (from !== leftwards) row--
    if (from !== upwards) column--
  }
  return { rows: rows.reverse(), columns: columns.reverse(), sum }
}

/** The column at which each row's turn begins. */
export function turns({ rows, columns }: Path): number[] {
  const starts: number[] = []
  for (const [index, row] of rows.entries()) starts[row] ??= columns[index]!
  return starts
}
