// Views with their voices known to turns: how many speak in a frame is what its views count on average, and who is
// what most of them say.

import { sampleRate } from '../audio.ts'
import { classVoices, frameCentre, frameStep, localVoices, viewFrames } from './voices.ts'

/** Somebody's stretch of speech, in samples. Speakers are numbers from 0. */
export type Turn = { from: number; to: number; speaker: number }

export type Frames = {
  /** The classes of each view's frames. */
  views: readonly Uint8Array[]
  /** Frames from the start of one view to the next. */
  step: number
  samples: number
}

/** The person behind each local voice of each view, -1 where there is no print to tell. */
export type Labelled = { labels: readonly Int16Array[]; people: number }

export type Turns = {
  turns: Turn[]
  /** Nobody at the same time as another: whoever most views hear. */
  exclusive: Turn[]
}

/** Who speaks less than this in all was never there. */
const ghostSamples = sampleRate

export function turnsOf(frames: Frames, { labels, people }: Labelled): Turns {
  const known = { labels: labelTheRest(frames, labels, people), people }
  const collected = collect(frames, known, new Set())
  const ghosts = ghostsAmong(collected.exclusive, people)
  return ghosts.size > 0 && ghosts.size < people ? collect(frames, known, ghosts) : collected
}

/** Views without prints are told by those that share most of their frames. */
function labelTheRest(
  { views, step }: Frames,
  labels: readonly Int16Array[],
  people: number,
): readonly Int16Array[] {
  return labels.map((own, view) => {
    const told = own.slice()
    for (let local = 0; local < localVoices; local++) {
      if (told[local]! >= 0 || people === 0) continue
      const votes = new Int32Array(people)
      const reach = Math.ceil(viewFrames / step)
      for (let near = Math.max(0, view - reach); near < Math.min(views.length, view + reach + 1); near++) {
        if (near === view) continue
        const shift = (view - near) * step
        for (let at = Math.max(0, -shift); at < Math.min(viewFrames, viewFrames - shift); at++) {
          if (!(classVoices[views[view]![at]!]! & (1 << local))) continue
          const there = classVoices[views[near]![at + shift]!]!
          for (let other = 0; other < localVoices; other++) {
            const person = labels[near]![other]!
            if (there & (1 << other) && person >= 0 && !told.includes(person)) votes[person]!++
          }
        }
      }
      const most = votes.indexOf(Math.max(...votes))
      if (votes[most]! > 0) told[local] = most
    }
    return told
  })
}

function collect(
  { views, step, samples }: Frames,
  { labels, people }: Labelled,
  ghosts: ReadonlySet<number>,
): Turns {
  const turns = Array.from({ length: people }, () => new Runs())
  const first = new Runs()
  const total = views.length === 0 ? 0 : (views.length - 1) * step + viewFrames
  const reach = Math.ceil(viewFrames / step)
  const votes = new Int32Array(people)
  for (let frame = 0; frame < total; frame++) {
    votes.fill(0)
    let seen = 0
    let speaking = 0
    const last = Math.min(views.length - 1, Math.floor(frame / step))
    for (let view = Math.max(0, last - reach); view <= last; view++) {
      const at = frame - view * step
      if (at >= viewFrames) continue
      seen++
      const voices = classVoices[views[view]![at]!]!
      for (let local = 0; local < localVoices; local++) {
        if (!(voices & (1 << local))) continue
        speaking++
        const person = labels[view]![local]!
        if (person >= 0 && !ghosts.has(person)) votes[person]!++
      }
    }
    const count = Math.round(speaking / Math.max(1, seen))
    const [most, next] = twoMost(votes)
    const edge = Math.min(samples, frame * frameStep + frameCentre - frameStep / 2)
    first.at(edge, count > 0 ? most : -1)
    for (const [person, runs] of turns.entries())
      runs.at(edge, (count > 0 && person === most) || (count > 1 && person === next) ? person : -1)
  }
  const end = Math.min(samples, total * frameStep + frameCentre - frameStep / 2)
  return {
    turns: turns.flatMap(each => each.end(end)).toSorted((one, other) => one.from - other.from),
    exclusive: first.end(end),
  }
}

/** Whoever has most votes, then next most; -1 where nobody has any. */
function twoMost(votes: Int32Array): [number, number] {
  let most = -1
  let next = -1
  for (let person = 0; person < votes.length; person++) {
    if (votes[person]! === 0) continue
    if (most < 0 || votes[person]! > votes[most]!) {
      next = most
      most = person
    } else if (next < 0 || votes[person]! > votes[next]!) next = person
  }
  return [most, next]
}

function ghostsAmong(exclusive: readonly Turn[], people: number): ReadonlySet<number> {
  const spoken = new Float64Array(people)
  for (const { from, to, speaker } of exclusive) spoken[speaker]! += to - from
  return new Set([...spoken.keys()].filter(person => spoken[person]! < ghostSamples))
}

/** Values in order of time to turns of one value. */
class Runs {
  private readonly turns: Turn[] = []
  private speaker = -1
  private from = 0

  at(sample: number, speaker: number): void {
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
