import { expect, test } from 'bun:test'
import { attentionMatrix, mergePunctuation, warp } from '../../src/engine/align.ts'
import { noise } from '../support/sound.ts'

/** Every monotonic path there is, tried out. */
function bestByForce(matrix: Float32Array, rows: number, columns: number): number {
  const walk = (row: number, column: number): number => {
    const here = matrix[row * columns + column]!
    if (row === 0 && column === 0) return here
    const ways = [
      row > 0 && column > 0 ? walk(row - 1, column - 1) : Number.NEGATIVE_INFINITY,
      row > 0 ? walk(row - 1, column) : Number.NEGATIVE_INFINITY,
      column > 0 ? walk(row, column - 1) : Number.NEGATIVE_INFINITY,
    ]
    return here + Math.max(...ways)
  }
  return walk(rows - 1, columns - 1)
}

test('warping finds the path that trying all of them finds', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const [rows, columns] = [1 + (seed % 5), 1 + ((seed * 7) % 8)]
    const matrix = noise((rows * columns) / 16_000, 1, seed)
    const path = warp(matrix, rows, columns)
    expect(path.sum).toBeCloseTo(bestByForce(matrix, rows, columns), 5)
    const along = path.rows.map((row, index) => matrix[row * columns + path.columns[index]!]!)
    expect(along.reduce((sum, each) => sum + each, 0)).toBeCloseTo(path.sum, 5)
    for (const [index, row] of path.rows.entries()) {
      if (index === 0) continue
      const [down, right] = [row - path.rows[index - 1]!, path.columns[index]! - path.columns[index - 1]!]
      expect([down, right, down + right > 0]).toEqual([down && 1, right && 1, true])
    }
  }
})

/** The same cleaning written down plainly: one distribution a row, one scale a frame, a sorted seven. */
function plainMatrix(rows: readonly Float32Array[], frames: number): number[][] {
  const heads = rows[0]!.length / frames
  const planes = Array.from({ length: heads }, (_, head) => {
    const shares = rows.map(row => {
      const part = [...row.subarray(head * frames, (head + 1) * frames)]
      const sum = part.reduce((total, each) => total + each, 0)
      return part.map(each => each / sum)
    })
    const scaled = shares.map(row => row.slice())
    for (let frame = 0; frame < frames; frame++) {
      const column = shares.map(row => row[frame]!)
      const mean = column.reduce((total, each) => total + each, 0) / column.length
      const deviation = Math.sqrt(
        column.reduce((total, each) => total + (each - mean) ** 2, 0) / column.length,
      )
      for (const row of scaled) row[frame] = (row[frame]! - mean) / deviation
    }
    return scaled.map(row =>
      row.map((_, frame) => {
        const around = Array.from({ length: 7 }, (_, place) => {
          const at = Math.abs(frame + place - 3)
          return row[at >= frames ? 2 * (frames - 1) - at : at]!
        })
        return around.sort((a, b) => a - b)[3]!
      }),
    )
  })
  return rows.map((_, token) =>
    Array.from({ length: frames }, (_, frame) => {
      return planes.reduce((sum, plane) => sum + plane[token]![frame]!, 0) / heads
    }),
  )
}

test('attention is cleaned as written down plainly', () => {
  const [tokens, heads, frames] = [5, 3, 40]
  const rows = Array.from({ length: tokens }, (_, token) =>
    noise((heads * frames) / 16_000, 1, token + 1).map(each => each + 1.001),
  )
  const plain = plainMatrix(rows, frames).flat()
  const all = { begin: 0, end: frames }
  const ours = attentionMatrix(
    rows,
    frames,
    rows.map(() => all),
  )
  expect(Math.max(...plain.map((each, index) => Math.abs(each - ours[index]!)))).toBeLessThan(1e-4)

  const banded = attentionMatrix(
    rows,
    frames,
    rows.map((_, row) => ({ begin: 3 * row, end: 3 * row + 20 })),
  )
  for (const [index, value] of banded.entries()) {
    const [row, frame] = [Math.floor(index / frames), index % frames]
    const inside = frame >= 3 * row && frame < 3 * row + 20
    expect(value).toBeCloseTo(inside ? ours[index]! : 0, 4)
  }
})

const word = (text: string) => ({ text, from: 0, to: 1, probability: 1 })

test.each([
  [
    [' Hello', ',', ' world', '!'],
    [' Hello,', ' world!'],
  ],
  [
    [' He', ' said', ' "', 'yes', '"', '.'],
    [' He', ' said', ' "yes".'],
  ],
  [
    [' ¿', 'Qué', ' tal', '?'],
    [' ¿Qué', ' tal?'],
  ],
  [
    [' it', ' -', 'well'],
    [' it', ' -well'],
  ],
  [['.'], ['.']],
])('punctuation is merged: %j', (given, expected) => {
  expect(mergePunctuation(given.map(word)).map(each => each.text)).toEqual(expected)
})
