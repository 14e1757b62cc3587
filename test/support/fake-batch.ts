import type { Batch } from '../../src/engine/hear/network.ts'

/**
 * Returns a fake batch (windows of sound that are decoded together) without a neural network. `rows` has one object for
 * each window. The field `at` of a row counts the decoding steps. `scoresOf` returns the scores of the next token.
 */
export function fakeBatch<Row extends { at: number }>(
  rows: Row[],
  scoresOf: (row: Row, position: number | undefined) => Float32Array,
): Batch {
  return {
    get rows() {
      return rows.length
    },
    logits: (row, position) => scoresOf(rows[row]!, position),
    attention: () => new Float32Array(0),
    step() {
      for (const row of rows) row.at++
    },
    drop(row) {
      rows[row] = rows.at(-1)!
      rows.pop()
    },
    close() {},
  }
}
