import { expect, test } from 'bun:test'
import { assign } from '../../../src/engine/who/assignment.ts'
import type { SegmentedRecording } from '../../../src/engine/who/segmented-recording.ts'
import type { Turn } from '../../../src/engine/who/turn.ts'
import { turnsOf } from '../../../src/engine/who/turns.ts'
import { withAllSpeakers } from '../../../src/engine/who/unknown-speakers.ts'
import { classVoices, frameStep, localVoices, viewFrames } from '../../../src/engine/who/views.ts'

const stepFrames = 59
const unknown = () => new Int16Array(localVoices).fill(-1)

/**
 * Returns a fake segmentation of a recording. `frames[n]` has the speakers in frame n. A view (ten seconds of sound)
 * numbers its voices from 0, so a speaker's number may change from view to view. `speakersOf(view)[n]` is the speaker
 * of voice n, or -1 if the view has no voice n.
 */
function recordingOf(
  frames: readonly number[][],
  speakersOf: (view: number) => number[],
): SegmentedRecording {
  const count = Math.max(1, Math.ceil((frames.length - viewFrames) / stepFrames) + 1)
  const views = Array.from({ length: count }, (_, view) => {
    const speakers = speakersOf(view)
    const classes = Uint8Array.from({ length: viewFrames }, (_, at) => {
      const speaking = frames[view * stepFrames + at] ?? []
      return classVoices.indexOf(
        speaking.reduce((bits, speaker) => bits | (1 << speakers.indexOf(speaker)), 0),
      )
    })
    return { classes, speakers: Int16Array.from(speakers) }
  })
  const speakerCount = Math.max(...views.flatMap(view => [...view.speakers])) + 1
  return {
    views,
    stepFrames,
    pieces: [],
    samples: frames.length * frameStep + 720,
    speakerCount,
    speakerCountIn: null,
  }
}

const repeat = (frames: number, ...speakers: number[]) => Array.from({ length: frames }, () => speakers)
const inFrames = (turns: readonly Turn[]) =>
  turns.map(({ from, to, speaker }) => [speaker, Math.round(from / frameStep), Math.round(to / frameStep)])

test('views with different voice numbers agree on turns; overlapping speech is in both turns', () => {
  const frames = [
    ...repeat(200, 0),
    ...repeat(100),
    ...repeat(300, 1),
    ...repeat(80, 1, 0),
    ...repeat(400, 0),
  ]
  const recording = recordingOf(frames, view => (view % 2 ? [1, 0, -1] : [0, -1, 1]))
  const { turns, exclusive } = turnsOf(recording)
  expect(inFrames(turns)).toEqual([
    [0, 1, 201],
    [1, 301, 681],
    [0, 601, 1081],
  ])
  expect(exclusive.every((turn, at) => turn.from >= (exclusive[at - 1]?.to ?? 0))).toBe(true)
})

test('a speaker with less than a second of speech is dropped', () => {
  const frames = [...repeat(500, 0), ...repeat(40, 1), ...repeat(300, 0)]
  const { turns } = turnsOf(recordingOf(frames, () => [0, 1, -1]))
  expect([...new Set(turns.map(turn => turn.speaker))]).toEqual([0])
})

test('if all speakers have less than a second of speech, all keep their turns', () => {
  const frames = [...repeat(50, 0), ...repeat(100), ...repeat(40, 1), ...repeat(300)]
  const { turns } = turnsOf(recordingOf(frames, () => [0, 1, -1]))
  expect(turns.map(turn => turn.speaker)).toEqual([0, 1])
})

test('a speaker who is dropped has no turn in a piece either, and no turn ends after the recording', () => {
  const frames = [...repeat(500, 0), ...repeat(40, 1), ...repeat(300, 0)]
  const recording = { ...recordingOf(frames, () => [0, 1, -1]), samples: 800 * frameStep }
  const { exclusive } = turnsOf({ ...recording, pieces: [{ from: 500, to: 540, speaker: 1 }] })
  expect(exclusive.map(({ speaker }) => speaker)).toEqual([0, 0])
  expect(exclusive[1]?.to).toBe(recording.samples)
})

test('a voice without a speaker does not get the speaker of another voice of its view', () => {
  const frames = [...repeat(400, 0), ...repeat(300, 0, 1), ...repeat(400, 0)]
  const recording = recordingOf(frames, () => [0, 1, -1])
  const views = recording.views.map(({ classes }) => ({ classes, speakers: Int16Array.of(0, -1, -1) }))
  const { turns } = turnsOf({ ...recording, views })
  expect(new Set(turns.map(({ speaker }) => speaker))).toEqual(new Set([0]))
  expect(withAllSpeakers({ ...recording, views })[0]!.speakers).toEqual(Int16Array.of(0, -1, -1))
})

test('a view without embeddings gets its speakers from the surrounding views', () => {
  const frames = [...repeat(400, 0), ...repeat(500, 1), ...repeat(400, 0)]
  const recording = recordingOf(frames, () => [0, 1, -1])
  const views = recording.views.map((view, index) =>
    index % 5 ? { classes: view.classes, speakers: unknown() } : view,
  )
  expect(turnsOf({ ...recording, views })).toEqual(turnsOf(recording))
})

test('a piece whose speaker is sure outvotes the views', () => {
  const recording = recordingOf(repeat(900, 0), () => [0, 1, -1])
  const { exclusive } = turnsOf({ ...recording, pieces: [{ from: 300, to: 500, speaker: 1 }] })
  expect(inFrames(exclusive)).toEqual([
    [0, 1, 301],
    [1, 301, 501],
    [0, 501, 901],
  ])
})

test('a recording without speech has no turns', () => {
  const views = [{ classes: new Uint8Array(viewFrames), speakers: unknown() }]
  const silence = { stepFrames, pieces: [], samples: 160_000, speakerCount: 0, speakerCountIn: null }
  expect(turnsOf({ ...silence, views })).toEqual({ turns: [], exclusive: [] })
  expect(turnsOf({ ...silence, views: [], samples: 0 })).toEqual({ turns: [], exclusive: [] })
})

test('the voices of a view are different speakers, chosen by the greatest sum of likeness', () => {
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
  expect(
    assign([
      [0.9, 0.8],
      [0.8, 0.1],
    ]),
  ).toEqual([1, 0])
  expect(assign([[0.5]])).toEqual([0])
  expect(assign([])).toEqual([])
})

test('the counts of the speech model decide how many speakers talk; missing speakers are those who spoke last', () => {
  const frames = [...repeat(200, 0), ...repeat(200, 1), ...repeat(200), ...repeat(300, 1)]
  const recording = recordingOf(frames, () => [0, 1, -1])
  const counts = [...repeat(180, 1), ...repeat(20, 0), ...repeat(150, 1), ...repeat(50, 2), ...repeat(50, 1)]
  const { turns, exclusive } = turnsOf({ ...recording, speakerCountIn: frame => counts[frame]?.[0] ?? 0 })
  expect(inFrames(turns)).toEqual([
    [0, 1, 181],
    [1, 201, 451],
    [0, 351, 401],
  ])
  expect(inFrames(exclusive)).toEqual([
    [0, 1, 181],
    [1, 201, 451],
  ])
})
