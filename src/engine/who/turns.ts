// Makes turns from the overlapping views of the segmentation model. A turn is a span in which one speaker talks. A view
// is ten seconds of sound. Each view votes for the speakers that it finds in a frame.

import { sampleRate } from '../audio.ts'
import { countSpeakers, type SegmentedRecording } from './segmented-recording.ts'
import { type Turn, TurnBuilder } from './turn.ts'
import { withAllSpeakers } from './unknown-speakers.ts'
import { startOf, viewFrames } from './views.ts'

export type Timeline = {
  turns: Turn[]
  /**
   * The turns without overlap. Where several speakers talk at once, only the speaker with the most votes has a turn.
   * Each view (ten seconds of sound) votes for the speakers that it finds in a frame.
   */
  exclusive: Turn[]
}

export const noTurns: Timeline = { turns: [], exclusive: [] }

/**
 * The minimum speech of a speaker in the whole recording, in samples. A speaker with less speech gets no turns, unless
 * all speakers have less.
 */
const speakerSamplesMin = sampleRate
/**
 * The number of votes that a piece (a span of one voice) adds for its speaker in each frame. A view adds only one vote
 * for each voice that it finds in the frame. All views together add fewer votes than this number, so the speaker of the
 * piece gets the most votes.
 */
const sureVotes = 100

export function turnsOf(recording: SegmentedRecording): Timeline {
  const complete = { ...recording, views: withAllSpeakers(recording) }
  const timeline = collectTurns(complete, new Set())
  const dropped = speakersWithLittleSpeech(timeline.exclusive, recording.speakerCount)
  const keepsSome = dropped.size > 0 && dropped.size < recording.speakerCount
  return keepsSome ? collectTurns(complete, dropped) : timeline
}

function collectTurns(recording: SegmentedRecording, dropped: ReadonlySet<number>): Timeline {
  const { views, stepFrames, pieces, samples, speakerCount } = recording
  const ownTurns = Array.from({ length: speakerCount }, () => new TurnBuilder())
  const exclusive = new TurnBuilder()
  const frames = views.length === 0 ? 0 : (views.length - 1) * stepFrames + viewFrames
  const sampleAt = (frame: number) => Math.min(samples, startOf(frame))
  const votes = new Int32Array(speakerCount)
  let next = 0
  let before: [number, number] = [-1, -1]
  for (let frame = 0; frame < frames; frame++) {
    const count = countSpeakers(recording, frame, dropped, votes)
    while (next < pieces.length && pieces[next]!.to <= frame) next++
    const piece = pieces[next]
    if (piece && piece.from <= frame && piece.speaker >= 0 && !dropped.has(piece.speaker))
      votes[piece.speaker]! += sureVotes
    const found = twoMost(votes)
    const [most, second] = recording.speakerCountIn ? withSpeakersBefore(found, before) : found
    if (count > 0 && most >= 0 && most !== before[0]) before = [most, before[0]]
    exclusive.add(sampleAt(frame), count > 0 ? most : -1)
    for (const [speaker, turns] of ownTurns.entries()) {
      const speaks = (count > 0 && speaker === most) || (count > 1 && speaker === second)
      turns.add(sampleAt(frame), speaks ? speaker : -1)
    }
  }
  const end = sampleAt(frames)
  return {
    turns: ownTurns.flatMap(turns => turns.end(end)).toSorted((one, other) => one.from - other.from),
    exclusive: exclusive.end(end),
  }
}

/** Returns the two speakers with the most votes. A missing speaker is -1. */
function twoMost(votes: Int32Array): [number, number] {
  let most = -1
  let next = -1
  for (let speaker = 0; speaker < votes.length; speaker++) {
    if (votes[speaker]! === 0) continue
    if (most < 0 || votes[speaker]! > votes[most]!) {
      next = most
      most = speaker
    } else if (next < 0 || votes[speaker]! > votes[next]!) next = speaker
  }
  return [most, next]
}

/**
 * Returns the two speakers who most probably speak in a frame. `most` and `second` are the speakers with the most
 * votes. `before` has the two speakers who spoke last, the latest first. -1 means that a speaker is missing. If `most`
 * or `second` is missing, a speaker of `before` replaces it.
 */
function withSpeakersBefore(
  [most, second]: [number, number],
  before: readonly [number, number],
): [number, number] {
  const first = most >= 0 ? most : before[0]
  return [first, second >= 0 ? second : before[Number(first === before[0])]!]
}

function speakersWithLittleSpeech(exclusive: readonly Turn[], speakerCount: number): ReadonlySet<number> {
  const spoken = new Float64Array(speakerCount)
  for (const { from, to, speaker } of exclusive) spoken[speaker]! += to - from
  return new Set([...spoken.keys()].filter(speaker => spoken[speaker]! < speakerSamplesMin))
}
