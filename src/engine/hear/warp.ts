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
  let above: Float64Array | null = null
  for (const [row, { begin, end }] of bands.entries()) {
    const sums = new Float64Array(end - begin)
    // How far this band's first column lies in the band above.
    const shift = above ? begin - bands[row - 1]!.begin : 0
    const [own, ways] = [values[row]!, came[row]!]
    for (let at = 0; at < sums.length; at++) {
      let best = row === 0 && at === 0 ? 0 : Number.NEGATIVE_INFINITY
      let from = diagonal
      if (above) {
        const over = at + shift
        if (over > 0 && over <= above.length) best = above[over - 1]!
        if (over < above.length && above[over]! > best) {
          best = above[over]!
          from = upwards
        }
      }
      if (at > 0 && sums[at - 1]! > best) {
        best = sums[at - 1]!
        from = leftwards
      }
      sums[at] = best + own[at]!
      ways[at] = from
    }
    above = sums
  }
  return walkBack(bands, came, above!.at(-1)!)
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
