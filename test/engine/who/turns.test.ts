import { expect, test } from 'bun:test'
import { assign } from '../../../src/engine/who/diarize.ts'
import { type Labelled, turnsOf } from '../../../src/engine/who/turns.ts'
import { classVoices, viewFrames } from '../../../src/engine/who/voices.ts'

const step = 59

/** Views of one long row of frames, each a set of people; `names` says which local voice a person is in each view. */
function viewsOf(row: readonly number[][], names: (view: number) => number[]) {
  const count = Math.max(1, Math.ceil((row.length - viewFrames) / step) + 1)
  const views = Array.from({ length: count }, (_, view) =>
    Uint8Array.from({ length: viewFrames }, (_, at) => {
      const people = row[view * step + at] ?? []
      const bits = people.reduce((sum, person) => sum | (1 << names(view).indexOf(person)), 0)
      return classVoices.indexOf(bits)
    }),
  )
  const labels = views.map((_, view) => Int16Array.from(names(view)))
  const people = Math.max(...labels.flatMap(each => [...each])) + 1
  return {
    frames: { views, step, samples: row.length * 270 + 720 },
    labelled: { labels, people } as Labelled,
  }
}

const stretch = (frames: number, ...people: number[]) => Array.from({ length: frames }, () => people)
const told = (turns: readonly { from: number; to: number; speaker: number }[]) =>
  turns.map(({ from, to, speaker }) => [speaker, Math.round(from / 270), Math.round(to / 270)])

test('views that name the voices differently agree on turns; who overlaps is in both lists once', () => {
  const row = [
    ...stretch(200, 0),
    ...stretch(100),
    ...stretch(300, 1),
    ...stretch(80, 1, 0),
    ...stretch(400, 0),
  ]
  const { frames, labelled } = viewsOf(row, view => (view % 2 ? [1, 0, -1] : [0, -1, 1]))
  const { turns, exclusive } = turnsOf(frames, labelled)
  expect(told(turns)).toEqual([
    [0, 1, 201],
    [1, 301, 681],
    [0, 601, 1081],
  ])
  expect(exclusive.every((each, at) => at === 0 || each.from >= exclusive[at - 1]!.to)).toBe(true)
})

test('who is heard for less than a second was never there', () => {
  const row = [...stretch(500, 0), ...stretch(40, 1), ...stretch(300, 0)]
  const { frames, labelled } = viewsOf(row, () => [0, 1, -1])
  const people = new Set(turnsOf(frames, labelled).turns.map(each => each.speaker))
  expect([...people]).toEqual([0])
})

test('a view without prints learns its voices from the views around it', () => {
  const row = [...stretch(400, 0), ...stretch(500, 1), ...stretch(400, 0)]
  const { frames, labelled } = viewsOf(row, () => [0, 1, -1])
  const known = turnsOf(frames, labelled)
  const sparse = labelled.labels.map((each, view) => (view % 5 ? new Int16Array(3).fill(-1) : each))
  expect(turnsOf(frames, { ...labelled, labels: sparse })).toEqual(known)
})

test('nothing said is no turn', () => {
  const silent = { views: [new Uint8Array(viewFrames)], step, samples: 160_000 }
  const labels = [new Int16Array(3).fill(-1)]
  expect(turnsOf(silent, { labels, people: 0 })).toEqual({ turns: [], exclusive: [] })
  expect(turnsOf({ views: [], step, samples: 0 }, { labels: [], people: 0 })).toEqual({
    turns: [],
    exclusive: [],
  })
})

test('two voices of a view are two people, and the sum of likeness decides who', () => {
  expect(
    assign([
      [0.9, 0.8, 0.1],
      [0.8, 0.2, 0.1],
    ]),
  ).toEqual([1, 0])
  expect(
    assign([
      [0.1, 0.9],
      [0.2, 0.8],
      [0.3, 0.7],
    ]),
  ).toEqual([1, 1, 1])
  expect(assign([[0.5]])).toEqual([0])
  expect(assign([])).toEqual([])
})
