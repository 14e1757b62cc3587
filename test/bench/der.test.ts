import { expect, test } from 'bun:test'
import { bestMatch, readRttm, type Segment, score } from '../../scripts/bench/support/der.ts'
import { seeded } from '../support/random.ts'

const by = (speaker: string, ...spans: [number, number][]): Segment[] =>
  spans.map(([from, to]) => ({ from, to, speaker }))

test('the same turns under other labels have no error', () => {
  const truth = [...by('anna', [0, 4], [6, 8]), ...by('ben', [4, 6])]
  const said = [...by('1', [4, 6]), ...by('2', [0, 4], [6, 8])]
  expect(score(truth, said, 0)).toMatchObject({ speech: 8, rate: 0, jaccard: 0 })
  expect([...score(truth, said, 0).matched]).toEqual([
    ['anna', '2'],
    ['ben', '1'],
  ])
})

test('the rate is the sum of missed, false and confused speech', () => {
  // Anna talks from 1 s to 11 s. The diarization misses the last 2 s, gives 3 s to another speaker, and finds 1 s of
  // false speech before her.
  const truth = by('anna', [1, 11])
  const said = [...by('1', [0, 6]), ...by('2', [6, 9])]
  expect(score(truth, said, 0)).toMatchObject({ speech: 10, missed: 2, false: 1, confused: 3, rate: 0.6 })
  // The speech of anna and of the matched speaker has an intersection of 5 s and a union of 11 s.
  expect(score(truth, said, 0).jaccard).toBeCloseTo(1 - 5 / 11, 10)
})

test('overlapping speech counts twice, and a single label is correct for only one of the speakers', () => {
  const truth = [...by('anna', [0, 6]), ...by('ben', [4, 10])]
  expect(score(truth, by('1', [0, 10]), 0)).toMatchObject({ speech: 12, missed: 2, false: 0, confused: 4 })
})

test('a collar excludes the boundaries of the reference from the score', () => {
  const truth = [...by('anna', [0, 5]), ...by('ben', [5, 10])]
  const said = [...by('1', [0, 5.2]), ...by('2', [5.2, 10])]
  expect(score(truth, said, 0).confused).toBeCloseTo(0.2, 10)
  expect(score(truth, said, 0.25)).toMatchObject({ confused: 0, speech: 9 })
  const none = score([...by('anna', [0, 0.4])], said, 0.25)
  expect(none.speech).toBe(0)
})

test('a speaker without a match has a Jaccard error of 1', () => {
  const truth = [...by('anna', [0, 5]), ...by('ben', [5, 10])]
  expect(score(truth, by('1', [0, 5]), 0).jaccard).toBe(0.5)
  expect(score(truth, [], 0)).toMatchObject({ rate: 1, jaccard: 1, missed: 10 })
  expect(score([], by('1', [0, 5]), 0)).toMatchObject({ speech: 0, false: 5, rate: 0 })
})

test('labels are matched so that the error is minimal', () => {
  const { below } = seeded(5)
  for (let round = 0; round < 200; round++) {
    const [rows, columns] = [1 + below(4), 1 + below(5)]
    const gain = Array.from({ length: rows }, () => Array.from({ length: columns }, () => below(50)))
    const total = (match: readonly number[]) =>
      match.reduce((sum, column, row) => sum + (column < 0 ? 0 : gain[row]![column]!), 0)
    const all = (row: number, used: readonly number[]): number =>
      row === rows
        ? 0
        : Math.max(
            all(row + 1, used),
            ...gain[row]!.map((value, column) =>
              used.includes(column) ? 0 : value + all(row + 1, [...used, column]),
            ),
          )
    const match = bestMatch(gain)
    const real = match.filter(each => each >= 0)
    expect(new Set(real).size).toBe(real.length)
    expect(total(match)).toBe(all(0, []))
  }
})

test('RTTM is parsed', () => {
  const text = 'SPEAKER talk 1 0.50 1.25 <NA> <NA> anna <NA> <NA>\nSPKR-INFO talk\n'
  expect(readRttm(text)).toEqual([{ from: 0.5, to: 1.75, speaker: 'anna' }])
})
