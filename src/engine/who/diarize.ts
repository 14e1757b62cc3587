// Diarization: finds who speaks when. While the sound arrives, the segmentation model finds the voices in
// each view of ten seconds. Views start about a second apart. Each voice of a view gets an embedding,
// computed from the frames in which only this voice speaks. At the end of the sound, the embeddings are
// clustered into speakers. The views that contain a frame then vote for the speakers in this frame.

import { sampleRate, samplesPerMelFrame } from '../audio.ts'
import { findVoices } from './cluster.ts'
import { type Timeline, turnsOf } from './turns.ts'
import { dot } from './unit.ts'
import {
  classVoices,
  frameCentre,
  frameStep,
  localVoices,
  type Voices,
  viewFrames,
  viewSamples,
} from './voices.ts'

/**
 * The number of frames from the start of one view to the start of the next: 0.996 s. Views start at a frame
 * boundary, so overlapping views have the same frames.
 */
export const stepFrames = 59
const stepSamples = stepFrames * frameStep
/** The number of views that the segmentation model processes at once. */
const batchViews = 8
/** A voice that speaks in fewer frames of a view gets no embedding. */
const voiceFramesMin = 8
/**
 * The number of frames, 0.8 s, in which a voice must speak alone so that its embedding can form a speaker.
 * Any other embedding can only be assigned to a speaker that exists.
 */
const formingFramesMin = Math.round((0.8 * sampleRate) / frameStep)
/**
 * The number of frames for 0.3 s. If a voice speaks alone for a shorter time, its embedding uses all its
 * frames, also those in which other voices speak.
 */
const aloneFramesMin = Math.round((0.3 * sampleRate) / frameStep)
/** The minimum number of embeddings of a speaker, if embeddings are computed in every view. */
const speakerEmbeddingsMin = 8
/**
 * The number of feature frames of an embedding is a multiple of this number. A GPU has to prepare its work
 * again for each new length.
 */
const featureFramesStep = 25
const featureFramesPerSecond = 100

/**
 * The embedding of a voice in a view. `local` is the number of the voice in this view. `forms` is true if the
 * embedding can form a speaker.
 */
type Embedding = { view: number; local: number; vector: Float32Array; forms: boolean }

/** Accepts the sound of one recording in parts of any length. Returns the turns at the end. */
export class Diarization {
  private readonly classes: Uint8Array[] = []
  private readonly embeddings: Embedding[] = []
  /** The buffered sound. It begins at the start of the next view. */
  private pending = new Float32Array(0)
  private samples = 0

  constructor(private readonly voices: Voices) {}

  add(sound: Float32Array): void {
    const pending = concat(this.pending, sound)
    this.samples += sound.length
    let at = 0
    while (pending.length - at >= viewSamples + (batchViews - 1) * stepSamples) {
      this.segment(pending.subarray(at), batchViews)
      at += batchViews * stepSamples
    }
    this.pending = pending.slice(at)
  }

  /**
   * Returns the turns. `expected` is the number of speakers that the caller expects, or null when it is
   * unknown.
   */
  finish(expected: number | null): Timeline {
    const viewsMin = Math.max(1, Math.ceil((this.samples - viewSamples) / stepSamples) + 1)
    const total = this.samples === 0 ? 0 : viewsMin
    for (let at = 0; this.classes.length < total; at += batchViews * stepSamples) {
      const count = Math.min(batchViews, total - this.classes.length)
      const sound = new Float32Array(viewSamples + (count - 1) * stepSamples)
      sound.set(this.pending.subarray(at, at + sound.length))
      this.segment(sound, count)
    }
    const speakers = this.findSpeakers(expected)
    const embeddings = Map.groupBy(this.embeddings, embedding => embedding.view)
    return turnsOf({
      views: this.classes.map((classes, view) => ({
        classes,
        speakers: speakersOfView(embeddings.get(view) ?? [], speakers),
      })),
      stepFrames,
      samples: this.samples,
      speakerCount: speakers.length,
    })
  }

  /**
   * Finds the voices of the next `count` views and computes their embeddings. `samples` begins at the start
   * of the first of these views.
   */
  private segment(samples: Float32Array, count: number): void {
    const sound = new Float32Array(count * viewSamples)
    for (let view = 0; view < count; view++) {
      const from = view * stepSamples
      sound.set(samples.subarray(from, from + viewSamples), view * viewSamples)
    }
    const classes = this.voices.segment(sound, count)
    for (let view = 0; view < count; view++) {
      const index = this.classes.length
      const own = classes.slice(view * viewFrames, (view + 1) * viewFrames)
      // Ignores speech that the model finds after the end of the recording: this part of a view is padding.
      const end = Math.ceil((this.samples - index * stepSamples - frameCentre) / frameStep)
      if (end < viewFrames) own.fill(0, Math.max(0, end))
      this.classes.push(own)
      if (index % this.voices.profile.every === 0)
        this.embedVoices(index, own, sound.subarray(view * viewSamples, (view + 1) * viewSamples))
    }
  }

  private embedVoices(view: number, classes: Uint8Array, sound: Float32Array): void {
    let features: Float32Array | null = null
    for (let local = 0; local < localVoices; local++) {
      const voice = 1 << local
      const speaks = (frame: number) => (classVoices[classes[frame]!]! & voice) > 0
      const speaksAlone = (frame: number) => classVoices[classes[frame]!] === voice
      let frames = 0
      let alone = 0
      for (let frame = 0; frame < classes.length; frame++) {
        if (speaks(frame)) frames++
        if (speaksAlone(frame)) alone++
      }
      if (frames < voiceFramesMin) continue
      const selects = alone >= aloneFramesMin ? speaksAlone : speaks
      features ??= this.voices.embedder.features(sound)
      const vector = this.voices.embedder.embed(this.select(features, selects))
      if (vector) this.embeddings.push({ view, local, vector, forms: alone >= formingFramesMin })
    }
  }

  /**
   * Returns the feature frames whose middle is in a frame that `selects` accepts. The number is limited to
   * the maximum of one embedding.
   */
  private select(features: Float32Array, selects: (frame: number) => boolean): Float32Array {
    const framesMax = this.voices.profile.embeddingSecondsMax * featureFramesPerSecond
    const selected: number[] = []
    const { width, firstMiddle } = this.voices.embedder
    for (let feature = 0; feature < features.length / width && selected.length < framesMax; feature++)
      if (selects(frameAt(firstMiddle + feature * samplesPerMelFrame))) selected.push(feature)
    if (selected.length > featureFramesStep) selected.length -= selected.length % featureFramesStep
    const part = new Float32Array(selected.length * width)
    for (const [row, feature] of selected.entries())
      part.set(features.subarray(feature * width, (feature + 1) * width), row * width)
    return part
  }

  /** Returns the centroid of each speaker's embeddings. */
  private findSpeakers(expected: number | null): Float32Array[] {
    const { threshold, every } = this.voices.profile
    const forming = this.embeddings.filter(embedding => embedding.forms)
    const clustered = forming.length > 1 ? forming : this.embeddings
    return findVoices(
      clustered.map(embedding => embedding.vector),
      { threshold, expected, embeddingsMin: Math.max(1, Math.round(speakerEmbeddingsMin / every)) },
    )
  }
}

/** Returns the frame of the segmentation model nearest to a sample of the view. */
function frameAt(sample: number): number {
  return Math.min(viewFrames - 1, Math.max(0, Math.round((sample - frameCentre) / frameStep)))
}

/** Returns the speaker of each voice in a view, or -1 for a voice without an embedding. */
function speakersOfView(embeddings: readonly Embedding[], speakers: readonly Float32Array[]): Int16Array {
  const found = new Int16Array(localVoices).fill(-1)
  const assigned = assign(embeddings.map(({ vector }) => speakers.map(speaker => dot(vector, speaker))))
  for (const [index, { local }] of embeddings.entries()) found[local] = assigned[index] ?? -1
  return found
}

/**
 * Assigns a different column to each row of the matrix, so that the sum of the chosen values is maximal. If
 * there are fewer columns than rows, each row gets the column with its highest value.
 */
export function assign(likeness: readonly (readonly number[])[]): number[] {
  const columnCount = likeness[0]?.length ?? 0
  const shared = columnCount < likeness.length
  // With n rows, the optimum uses only the n best columns of each row.
  const candidates = likeness.map(row =>
    row
      .map((value, column) => ({ value, column }))
      .toSorted((one, other) => other.value - one.value)
      .slice(0, shared ? 1 : likeness.length),
  )
  let best: number[] = []
  let bestSum = Number.NEGATIVE_INFINITY
  const choose = (row: number, chosen: number[], sum: number) => {
    const columns = candidates[row]
    if (!columns) {
      if (sum > bestSum) {
        best = chosen
        bestSum = sum
      }
      return
    }
    for (const { value, column } of columns)
      if (shared || !chosen.includes(column)) choose(row + 1, [...chosen, column], sum + value)
  }
  choose(0, [], 0)
  return best
}

function concat(one: Float32Array, other: Float32Array): Float32Array<ArrayBuffer> {
  const both = new Float32Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}
