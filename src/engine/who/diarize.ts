// Diarization: finds who speaks when. While the sound arrives, the segmentation model finds the voices in each view,
// which is ten seconds of sound. Views start about one second apart, so they overlap. The recording is cut into pieces
// in which one voice speaks alone, and each piece that is long enough gets an embedding. At the end of the recording,
// the embeddings are clustered. Each cluster with enough speech is a speaker.

import { joinFloats } from '../../base/join-floats.ts'
import { sampleRate, samplesPerMelFrame } from '../audio.ts'
import { findVoices } from './cluster.ts'
import { Loudness } from './loudness.ts'
import { type FrameSpan, piecesIn, type VoicePiece } from './pieces.ts'
import { frameCentre, frameStep, viewFrames, viewSamples } from './segmentation.ts'
import { speakersOfViews } from './speakers-of-views.ts'
import { type Timeline, turnsOf } from './turns.ts'
import { dot, unit } from './unit.ts'
import { findVoicesByVbx } from './vbx.ts'
import type { Voices } from './voices.ts'

/**
 * The number of frames from the start of one view to the start of the next view: 0.996 s. Each view starts at a frame
 * of the recording, so that a frame has the same times in all views that contain it.
 */
export const stepFrames = 59
const stepSamples = stepFrames * frameStep
/** The number of views (ten seconds of sound each) that the segmentation model processes in one call. */
const batchViews = 8
/**
 * The number of frames in a block of sound, which is about a minute long. The embeddings of all pieces in a block are
 * computed together.
 */
const blockFrames = 60 * stepFrames
/**
 * The minimum length, in seconds, of a piece that takes part in the clustering. A shorter piece gets its speaker after
 * the clustering. If fewer than two pieces have this length, all pieces with an embedding are clustered.
 */
const formingSeconds = 0.8
/** The minimum length of a piece for an embedding, in seconds. A shorter piece gets no embedding. */
const embeddedSeconds = 0.25
/**
 * The minimum speech of a speaker, in seconds of clustered pieces. A cluster with less speech is not a speaker. The
 * minimum is `seconds` if all clustered pieces together have at most `of` seconds. With more seconds, the minimum grows
 * with their square root, because a longer recording has larger clusters of outliers.
 */
const speakerSecondsMin = { seconds: 4, of: 100 }
/**
 * `distance` is an assumed distance between neighbouring pieces of one voice. It is averaged with the median of the
 * distances that are measured in the recording. In this average, it counts as much as `weight` measured distances, so a
 * few measured distances have little influence.
 */
const usualScatter = { distance: 0.22, weight: 10 }
/**
 * The clustering threshold of a recording is `multiple` times the typical distance between neighbouring pieces of one
 * voice (see `adaptedThreshold`). It is at least `low` and at most `high`.
 */
const adapted = { low: 0.2, high: 0.34, multiple: 1.4 }
const secondsPerFrame = frameStep / sampleRate

/**
 * The settings for embeddings that a PLDA model has projected. `threshold` is the clustering distance: in meetings,
 * distances from 0.80 to 0.86 give the right voices. `start` is the distance of an earlier clustering that finds the
 * first clusters for VBx, because VBx must start with too many clusters. The parameters of VBx were chosen for one
 * embedding in every `embeddingSeconds` seconds of speech. A piece of this length counts as one embedding, and a longer
 * piece counts as several.
 */
const projected = { threshold: 0.83, start: 0.62, embeddingSeconds: 0.24 }

/**
 * A piece of the recording with its embedding `vector`. `vector` is null if the piece is too short for an embedding.
 */
type EmbeddedPiece = VoicePiece & { vector: Float32Array | null }

/** The diarization of one recording. `add` accepts the sound in parts of any length; `finish` returns the turns. */
export class Diarization {
  private readonly classes: Uint8Array[] = []
  private readonly pieces: EmbeddedPiece[] = []
  private readonly loudness = new Loudness()
  /** The sound that the segmentation model has not read yet. It begins at the first sample of the next view. */
  private pending = new Float32Array(0)
  /**
   * The parts of the sound whose pieces have no embedding yet. The first part begins at the first sample of frame
   * `blockFrame`.
   */
  private block: Float32Array[] = []
  private blockFrame = 0
  private samples = 0

  constructor(private readonly voices: Voices) {}

  add(sound: Float32Array): void {
    const pending = joinFloats([this.pending, sound])
    this.samples += sound.length
    this.loudness.add(sound)
    this.block.push(sound)
    let at = 0
    while (pending.length - at >= viewSamples + (batchViews - 1) * stepSamples) {
      this.segment(pending.subarray(at), batchViews)
      at += batchViews * stepSamples
      // The embeddings of a block are computed only when two blocks of sound have arrived. The embedder subtracts the
      // noise from the sound, and it measures the noise better in more sound.
      const frames = this.classes.length * stepFrames
      if (frames - this.blockFrame >= 2 * blockFrames) this.embedBlock(frames, this.blockFrame + blockFrames)
    }
    this.pending = pending.slice(at)
  }

  /**
   * Returns the turns of the recording. `expected` is the number of speakers that the caller expects, or null if the
   * caller gave no number.
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
    const frames = total === 0 ? 0 : (total - 1) * stepFrames + viewFrames
    this.embedBlock(frames, frames)
    const centroids = this.findSpeakers(expected)
    const labelled = this.pieces.map(({ from, to, vector }) => ({
      from,
      to,
      speaker: vector ? nearest(vector, centroids) : -1,
      forms: secondsOf({ from, to }) >= formingSeconds,
    }))
    const speakers = speakersOfViews(this.classes, stepFrames, labelled, centroids.length)
    const { turns, exclusive } = turnsOf({
      views: this.classes.map((classes, view) => ({
        classes,
        speakers: speakers[view] ?? new Int16Array(0),
      })),
      stepFrames,
      pieces: labelled.filter(({ forms }) => forms),
      samples: this.samples,
      speakerCount: centroids.length,
    })
    return {
      turns: this.loudness.withoutPauses(turns),
      exclusive: this.loudness.withoutPauses(exclusive),
    }
  }

  /** Finds the voices in the next `count` views. `samples` begins at the first sample of the first of these views. */
  private segment(samples: Float32Array, count: number): void {
    const classes = this.voices.segment(samples, count, stepSamples)
    for (let view = 0; view < count; view++) {
      const index = this.classes.length
      const own = classes.slice(view * viewFrames, (view + 1) * viewFrames)
      // The last view ends after the recording, so silence fills it. Voices that the model finds in this silence are
      // ignored.
      const end = Math.ceil((this.samples - index * stepSamples - frameCentre) / frameStep)
      if (end < viewFrames) own.fill(0, Math.max(0, end))
      this.classes.push(own)
    }
  }

  /**
   * Computes the embeddings of the pieces that begin at frame `blockFrame` or later, and that end at frame `end` or
   * earlier. Then sets `blockFrame` to the end of the last of these pieces. `to` is the frame up to which the
   * segmentation model has read the recording.
   */
  private embedBlock(to: number, end: number): void {
    const from = this.blockFrame
    const pieces = piecesIn(this.classes, stepFrames, { from, to }).filter(piece => piece.to <= end)
    const sound = joinFloats(this.block)
    const { embedder, plda } = this.voices
    const features = embedder.features(sound.subarray(0, (to - from + 2) * frameStep))
    const parts = pieces.map(piece => {
      const [first, last] = [piece.from, piece.to].map(frame => {
        const sample = (frame - from) * frameStep + frameCentre - frameStep / 2
        return Math.max(0, Math.round((sample - embedder.firstMiddle) / samplesPerMelFrame))
      }) as [number, number]
      const own = features.subarray(first * embedder.width, last * embedder.width)
      return secondsOf(piece) < embeddedSeconds ? own.subarray(0, 0) : repeated(own, embedder.sizeMin)
    })
    for (const [index, embedding] of embedder.embed(parts).entries()) {
      const vector = embedding && (plda ? plda.project(embedding) : unit(embedding))
      this.pieces.push({ ...pieces[index]!, vector })
    }
    this.blockFrame = pieces.at(-1)?.to ?? end
    this.block = [sound.slice((this.blockFrame - from) * frameStep)]
  }

  /** Returns the centroid of the embeddings of each speaker. */
  private findSpeakers(expected: number | null): Float32Array[] {
    const { plda, profile } = this.voices
    const { likeness } = profile
    const all = this.pieces.flatMap(({ vector, ...span }) =>
      vector ? [{ vector, weight: secondsOf(span) }] : [],
    )
    const forming = all.filter(({ weight }) => weight >= formingSeconds)
    const total = forming.reduce((sum, { weight }) => sum + weight, 0)
    const used = forming.length > 1 ? forming : all
    const secondsMin = speakerSecondsMin.seconds * Math.sqrt(Math.max(1, total / speakerSecondsMin.of))
    if (plda) {
      const dense = used.map(({ vector, weight }) => ({
        vector,
        weight: weight / projected.embeddingSeconds,
      }))
      const found = findVoicesByVbx(dense, plda, {
        start: projected.start,
        weightMin: secondsMin / projected.embeddingSeconds,
      })
      if (expected === null || found.length === expected) return found
    }
    const fixed = plda ? projected.threshold : profile.threshold
    return findVoices(used, {
      threshold: likeness === null ? fixed : this.adaptedThreshold(),
      likeness,
      expected,
      weightMin: secondsMin,
    })
  }

  /**
   * Returns the clustering threshold for this recording. It depends on how much the embeddings of one voice differ,
   * because this is not the same in all recordings. Two neighbouring pieces without a change of voice between them have
   * the same voice, so the distance between their embeddings is measured.
   */
  private adaptedThreshold(): number {
    const distances: number[] = []
    for (const [index, { vector, follows, ...span }] of this.pieces.entries()) {
      const before = this.pieces[index - 1]
      if (!follows || !vector || !before?.vector) continue
      if (Math.min(secondsOf(span), secondsOf(before)) >= formingSeconds)
        distances.push(1 - dot(vector, before.vector))
    }
    const median = distances.toSorted((one, other) => one - other)[distances.length >> 1] ?? 0
    const { distance, weight } = usualScatter
    const scatter = (distances.length * median + weight * distance) / (distances.length + weight)
    return Math.min(adapted.high, Math.max(adapted.low, adapted.multiple * scatter))
  }
}

function secondsOf({ from, to }: FrameSpan): number {
  return (to - from) * secondsPerFrame
}

function nearest(vector: Float32Array, centroids: readonly Float32Array[]): number {
  const likeness = centroids.map(centroid => dot(vector, centroid))
  return likeness.indexOf(Math.max(...likeness))
}

/**
 * Repeats the features until there are `size` values. If there are already `size` values or more, or no values, returns
 * the features unchanged.
 */
function repeated(features: Float32Array, size: number): Float32Array {
  if (features.length >= size || features.length === 0) return features
  const filled = new Float32Array(size)
  for (let at = 0; at < size; at += features.length) filled.set(features.subarray(0, size - at), at)
  return filled
}
