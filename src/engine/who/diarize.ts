// Who speaks when: views of ten seconds, a second apart, as the sound comes in; a print of each voice in a view from
// where it speaks alone; prints to people at the end; then each frame to those most views put there.

import { sampleRate } from '../audio.ts'
import { dot, findVoices } from './cluster.ts'
import { bands } from './fbank.ts'
import { type Labelled, type Turns, turnsOf } from './turns.ts'
import {
  classVoices,
  frameCentre,
  frameOfFeature,
  frameStep,
  localVoices,
  type Voices,
  viewFrames,
  viewSamples,
} from './voices.ts'

/** Views begin on frames, so that all of them count the same ones: 59 frames are 0.996 s. */
export const stepFrames = 59
const stepSamples = stepFrames * frameStep
/** Views at once. */
const batch = 8
/** A local voice with fewer frames is not looked at. */
const framesMin = 8
/** Alone for this long, a voice's print may form a voice of the recording; less only joins one. */
const aloneFramesMin = Math.round((0.8 * sampleRate) / frameStep)
/** Alone for less than this, the frames shared with others must serve as well. */
const aloneFramesLeast = Math.round((0.3 * sampleRate) / frameStep)
/** Prints that make a voice when there is one for every view. */
const printsMin = 8

/** Prints are made of a multiple of so many frames of features. */
const lengthStep = 25

type Print = { view: number; local: number; vector: Float32Array; forms: boolean }

/** Takes the sound of one recording in pieces and says at its end who spoke when. */
export class Diarization {
  private readonly classes: Uint8Array[] = []
  private readonly prints: Print[] = []
  private rest = new Float32Array(0)
  private heard = 0

  constructor(private readonly voices: Voices) {}

  hear(sound: Float32Array): void {
    const samples = joined(this.rest, sound)
    this.heard += sound.length
    let at = 0
    while (samples.length - at >= viewSamples + (batch - 1) * stepSamples) {
      this.look(samples.subarray(at), batch)
      at += batch * stepSamples
    }
    this.rest = samples.slice(at)
  }

  finish(expected: number | null): Turns {
    const whole = Math.max(1, Math.ceil((this.heard - viewSamples) / stepSamples) + 1)
    const total = this.heard === 0 ? 0 : whole
    for (let at = 0; this.classes.length < total; at += batch * stepSamples) {
      const count = Math.min(batch, total - this.classes.length)
      const sound = new Float32Array(viewSamples + (count - 1) * stepSamples)
      sound.set(this.rest.subarray(at, at + sound.length))
      this.look(sound, count)
    }
    return turnsOf({ views: this.classes, step: stepFrames, samples: this.heard }, this.label(expected))
  }

  private look(samples: Float32Array, count: number): void {
    const sound = new Float32Array(count * viewSamples)
    for (let view = 0; view < count; view++) {
      const from = view * stepSamples
      sound.set(samples.subarray(from, from + viewSamples), view * viewSamples)
    }
    const classes = this.voices.segment(sound, count)
    for (let view = 0; view < count; view++) {
      const index = this.classes.length
      const own = classes.slice(view * viewFrames, (view + 1) * viewFrames)
      // After the end of the recording nobody speaks.
      const end = Math.ceil((this.heard - index * stepSamples - frameCentre) / frameStep)
      if (end < viewFrames) own.fill(0, Math.max(0, end))
      this.classes.push(own)
      if (index % this.voices.profile.every === 0)
        this.take(index, own, sound.subarray(view * viewSamples, (view + 1) * viewSamples))
    }
  }

  private take(view: number, classes: Uint8Array, sound: Float32Array): void {
    let features: Float32Array | null = null
    for (let local = 0; local < localVoices; local++) {
      const voice = 1 << local
      let frames = 0
      let alone = 0
      for (const each of classes) {
        if (classVoices[each]! & voice) frames++
        if (classVoices[each] === voice) alone++
      }
      if (frames < framesMin) continue
      const wanted = (each: number) =>
        alone >= aloneFramesLeast ? classVoices[each] === voice : (classVoices[each]! & voice) > 0
      features ??= this.voices.features(sound)
      const vector = this.voices.print(
        this.pick(features, feature => wanted(classes[frameOfFeature(feature)]!)),
      )
      if (vector) this.prints.push({ view, local, vector, forms: alone >= aloneFramesMin })
    }
  }

  private pick(features: Float32Array, wanted: (feature: number) => boolean): Float32Array {
    const most = this.voices.profile.printSecondsMax * 100
    const picked: number[] = []
    for (let feature = 0; feature < features.length / bands && picked.length < most; feature++)
      if (wanted(feature)) picked.push(feature)
    // Few lengths: a GPU plans its work anew for each one.
    if (picked.length > lengthStep) picked.length -= picked.length % lengthStep
    const some = new Float32Array(picked.length * bands)
    for (const [row, feature] of picked.entries())
      some.set(features.subarray(feature * bands, (feature + 1) * bands), row * bands)
    return some
  }

  /** Which voice of the recording each local voice of each view is. */
  private label(expected: number | null): Labelled {
    const { threshold, every } = this.voices.profile
    const forming = this.prints.filter(each => each.forms)
    const best = forming.length > 1 ? forming : this.prints
    const people = findVoices(
      best.map(each => each.vector),
      { threshold, expected, least: Math.max(1, Math.round(printsMin / every)) },
    )
    const labels = this.classes.map(() => new Int16Array(localVoices).fill(-1))
    for (let at = 0; at < this.prints.length; ) {
      const { view } = this.prints[at]!
      const own = this.prints.slice(at, at + localVoices).filter(each => each.view === view)
      const places = assign(own.map(each => people.map(person => dot(each.vector, person))))
      for (const [index, each] of own.entries()) labels[view]![each.local] = places[index]!
      at += own.length
    }
    return { labels, people: people.length }
  }
}

/** A different column for each row, the likeliest in all; columns may be shared where there are too few. */
export function assign(likeness: readonly (readonly number[])[]): number[] {
  const columns = likeness[0]?.length ?? 0
  const few = columns < likeness.length
  // The best choice never needs a row's fourth best of three rows.
  const candidates = likeness.map(row =>
    row
      .map((value, column) => ({ value, column }))
      .toSorted((one, other) => other.value - one.value)
      .slice(0, few ? 1 : likeness.length),
  )
  let best: number[] = []
  let most = Number.NEGATIVE_INFINITY
  const choose = (row: number, chosen: number[], sum: number) => {
    if (row === candidates.length) {
      if (sum > most) [best, most] = [chosen, sum]
      return
    }
    for (const { value, column } of candidates[row]!)
      if (few || !chosen.includes(column)) choose(row + 1, [...chosen, column], sum + value)
  }
  choose(0, [], 0)
  return best
}

function joined(one: Float32Array, other: Float32Array): Float32Array<ArrayBuffer> {
  const both = new Float32Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}
