// Makes turns from the overlapping views of the segmentation model, each of which is ten seconds long. Each view that
// contains a frame votes for the speakers that it finds in the frame. The number of speakers in the frame is the
// rounded mean of the numbers that these views find. The speakers with the most votes are chosen.

import { sampleRate } from '../audio.ts'
import type { FrameSpan } from './pieces.ts'
import { classVoices, frameCentre, frameStep, localVoices, viewFrames } from './segmentation.ts'

/** A span in which one speaker talks. `from` and `to` are indices of samples. Speakers are numbered from 0. */
export type Turn = { from: number; to: number; speaker: number }

/**
 * A view of ten seconds: the class of each of its frames, and the speaker of each of its local voices. The class says
 * which local voices speak in the frame. -1 means that the speaker of a voice is unknown.
 */
export type View = { classes: Uint8Array; speakers: Int16Array }

export type SegmentedRecording = {
  views: readonly View[]
  /** The number of frames from the start of one view to the start of the next view. */
  stepFrames: number
  /**
   * The pieces that were clustered, with their speakers. In each frame of a clustered piece, the speaker of this piece
   * has the most votes.
   */
  pieces: readonly (FrameSpan & { speaker: number })[]
  samples: number
  speakerCount: number
}

export type Timeline = {
  turns: Turn[]
  /**
   * The turns without overlap. Where several speakers talk at once, only the speaker with the most votes has a turn.
   */
  exclusive: Turn[]
}

/**
 * The minimum speech of a speaker in the whole recording, in samples. A speaker with less speech is treated as an error
 * of the diarization and gets no turns. If all speakers have less speech, all of them keep their turns.
 */
const speakerSamplesMin = sampleRate
/**
 * The number of votes that a clustered piece gives to its speaker in each of its frames. This number is higher than the
 * sum of the votes of all views for a frame, so the speaker of the piece always has the most votes.
 */
const sureVotes = 100

export function turnsOf(recording: SegmentedRecording): Timeline {
  const complete = { ...recording, views: withAllSpeakers(recording) }
  const timeline = collectTurns(complete, new Set())
  const dropped = speakersWithLittleSpeech(timeline.exclusive, recording.speakerCount)
  const keepsSome = dropped.size > 0 && dropped.size < recording.speakerCount
  return keepsSome ? collectTurns(complete, dropped) : timeline
}

/**
 * Returns the view with the index `index` and the views that overlap with it. Each view is returned with its own index.
 */
function viewsAround({ views, stepFrames }: SegmentedRecording, index: number): [number, View][] {
  const reach = Math.ceil(viewFrames / stepFrames)
  const first = Math.max(0, index - reach)
  return views.slice(first, index + reach + 1).map((view, at) => [first + at, view])
}

/** Finds the unknown speakers of each view, by votes of the views that overlap with it. */
function withAllSpeakers(recording: SegmentedRecording): readonly View[] {
  const { views, stepFrames, speakerCount } = recording
  if (speakerCount === 0) return views
  return views.map((view, index) => {
    const speakers = view.speakers.slice()
    for (let local = 0; local < localVoices; local++) {
      if (speakers[local]! >= 0) continue
      const votes = new Int32Array(speakerCount)
      for (const [nearIndex, near] of viewsAround(recording, index))
        if (nearIndex !== index) addVotes(votes, view, local, near, (index - nearIndex) * stepFrames)
      // Two local voices of one view are two different persons. So a speaker who is already assigned to one voice of
      // this view gets no votes for another voice.
      for (const speaker of speakers) if (speaker >= 0) votes[speaker] = 0
      const most = votes.indexOf(Math.max(...votes))
      if (votes[most]! > 0) speakers[local] = most
    }
    return { classes: view.classes, speakers }
  })
}

/**
 * Adds the votes of the view `near` for the speaker of local voice `local` of `view`. The two views overlap: frame
 * `frame` of `view` is frame `frame + shift` of `near`. In each frame in which the local voice speaks, each speaker
 * that `near` finds gets one vote.
 */
function addVotes(votes: Int32Array, view: View, local: number, near: View, shift: number): void {
  for (let frame = Math.max(0, -shift); frame < Math.min(viewFrames, viewFrames - shift); frame++) {
    if (!(classVoices[view.classes[frame]!]! & (1 << local))) continue
    const nearVoices = classVoices[near.classes[frame + shift]!]!
    for (let other = 0; other < localVoices; other++) {
      const speaker = near.speakers[other]!
      if (nearVoices & (1 << other) && speaker >= 0) votes[speaker]!++
    }
  }
}

function collectTurns(recording: SegmentedRecording, dropped: ReadonlySet<number>): Timeline {
  const { views, stepFrames, pieces, samples, speakerCount } = recording
  const ownTurns = Array.from({ length: speakerCount }, () => new TurnBuilder())
  const exclusive = new TurnBuilder()
  const frames = views.length === 0 ? 0 : (views.length - 1) * stepFrames + viewFrames
  const startOf = (frame: number) => Math.min(samples, frame * frameStep + frameCentre - frameStep / 2)
  const votes = new Int32Array(speakerCount)
  let next = 0
  for (let frame = 0; frame < frames; frame++) {
    const count = countSpeakers(recording, frame, dropped, votes)
    while (next < pieces.length && pieces[next]!.to <= frame) next++
    const piece = pieces[next]
    if (piece && piece.from <= frame && piece.speaker >= 0 && !dropped.has(piece.speaker))
      votes[piece.speaker]! += sureVotes
    const [most, second] = twoMost(votes)
    exclusive.add(startOf(frame), count > 0 ? most : -1)
    for (const [speaker, turns] of ownTurns.entries()) {
      const speaks = (count > 0 && speaker === most) || (count > 1 && speaker === second)
      turns.add(startOf(frame), speaks ? speaker : -1)
    }
  }
  const end = startOf(frames)
  return {
    turns: ownTurns.flatMap(turns => turns.end(end)).toSorted((one, other) => one.from - other.from),
    exclusive: exclusive.end(end),
  }
}

/**
 * Returns the number of speakers in a frame of the recording: the rounded mean of the numbers that the views find in
 * this frame. Also writes the votes for each speaker to `votes`.
 */
function countSpeakers(
  { views, stepFrames }: SegmentedRecording,
  frame: number,
  dropped: ReadonlySet<number>,
  votes: Int32Array,
): number {
  votes.fill(0)
  let seen = 0
  let speaking = 0
  const last = Math.min(views.length - 1, Math.floor(frame / stepFrames))
  const first = Math.max(0, last - Math.ceil(viewFrames / stepFrames))
  for (let index = first; index <= last; index++) {
    const view = views[index]
    const at = frame - index * stepFrames
    if (!view || at >= viewFrames) continue
    seen++
    const voices = classVoices[view.classes[at]!]!
    for (let local = 0; local < localVoices; local++) {
      if (!(voices & (1 << local))) continue
      speaking++
      const speaker = view.speakers[local]!
      if (speaker >= 0 && !dropped.has(speaker)) votes[speaker]!++
    }
  }
  return Math.round(speaking / Math.max(1, seen))
}

/** Returns the speaker with the most votes, and the speaker with the second most votes. A missing speaker is -1. */
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

function speakersWithLittleSpeech(exclusive: readonly Turn[], speakerCount: number): ReadonlySet<number> {
  const spoken = new Float64Array(speakerCount)
  for (const { from, to, speaker } of exclusive) spoken[speaker]! += to - from
  return new Set([...spoken.keys()].filter(speaker => spoken[speaker]! < speakerSamplesMin))
}

/**
 * Builds turns. `add` is called with the first sample of a frame and the speaker of this frame, for all frames in
 * order. The speaker -1 means silence.
 */
class TurnBuilder {
  private readonly turns: Turn[] = []
  private speaker = -1
  private from = 0

  add(sample: number, speaker: number): void {
    if (speaker === this.speaker) return
    this.close(sample)
    this.speaker = speaker
    this.from = Math.max(0, sample)
  }

  end(sample: number): Turn[] {
    this.close(sample)
    return this.turns
  }

  private close(to: number): void {
    if (this.speaker >= 0 && to > this.from) this.turns.push({ from: this.from, to, speaker: this.speaker })
  }
}
