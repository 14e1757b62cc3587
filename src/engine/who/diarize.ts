// Diarization: finds who speaks when. The segmentation model finds the voices in overlapping views of ten seconds. The
// recording is cut into pieces in which one voice speaks alone. Each piece of about 0.25 s or more gets an embedding.
// At the end, the embeddings are clustered, and each cluster with enough speech is a speaker.

import { joinFloats } from '../../base/join-floats.ts'
import type { VoiceReading } from '../hear/voice-network.ts'
import { type EmbeddedPiece, embedPieces } from './embedded-pieces.ts'
import { FeatureStream } from './feature-stream.ts'
import { findSpeakers } from './find-speakers.ts'
import { withoutFragments } from './fragments.ts'
import { FrameEmbeddings } from './frame-embeddings.ts'
import { Loudness } from './loudness.ts'
import { piecesIn } from './pieces.ts'
import { speakersOfPieces } from './speakers-of-pieces.ts'
import { speakersOfViews } from './speakers-of-views.ts'
import { type Timeline, turnsOf } from './turns.ts'
import { frameCentre, frameStep, viewFrames, viewSamples } from './views.ts'
import { type PlacedSpan, VoiceCounts } from './voice-counts.ts'
import type { Voices } from './voices.ts'

/** The number of frames from the start of one view (ten seconds) to the start of the next view: 0.996 s. */
export const stepFrames = 59
const stepSamples = stepFrames * frameStep
/** The number of views (ten seconds of sound each) that the segmentation model processes in one call. */
const batchViews = 12
/**
 * The number of frames in a block, which is about a minute of sound. The embeddings of a block are computed together.
 */
const blockFrames = 60 * stepFrames

/** The diarization of one recording. `add` accepts the sound in parts of any length; `finish` returns the turns. */
export class Diarization {
  private readonly classes: Uint8Array[] = []
  private readonly pieces: EmbeddedPiece[] = []
  private readonly loudness = new Loudness()
  private readonly voiceCounts = new VoiceCounts()
  private readonly frameEmbeddings = new FrameEmbeddings()
  /**
   * The sound that the segmentation model still needs. The first sample is the start of the next view (ten seconds). A
   * view overlaps with the views before it.
   */
  private pending: Float32Array[] = []
  private pendingSamples = 0
  /**
   * The features (the input of the voice encoder) of the last part of the sound. They are needed for the pieces that
   * have no embedding yet. A piece is a span in which one voice speaks alone. The pieces without an embedding begin at
   * frame `blockFrame` or later.
   */
  private readonly features: FeatureStream
  private blockFrame = 0
  private samples = 0

  constructor(private readonly voices: Voices) {
    this.features = new FeatureStream(voices.embedder)
  }

  add(sound: Float32Array): void {
    this.samples += sound.length
    this.loudness.add(sound)
    this.features.add(sound)
    this.pending.push(sound)
    this.pendingSamples += sound.length
    const needed = viewSamples + (batchViews - 1) * stepSamples
    if (this.pendingSamples < needed) return
    const pending = joinFloats(this.pending)
    let at = 0
    while (pending.length - at >= needed) {
      this.segment(pending.subarray(at), batchViews)
      at += batchViews * stepSamples
      // The built-in voice encoder subtracts the noise, and measures it better in two blocks than in one. So a block is
      // embedded when the next block has arrived too, or at the end.
      const frames = this.classes.length * stepFrames
      if (frames - this.blockFrame >= 2 * blockFrames) this.embedBlock(frames, this.blockFrame + blockFrames)
    }
    this.pending = [pending.slice(at)]
    this.pendingSamples = pending.length - at
  }

  /**
   * True if this diarization uses the voice readings of the speech model. A voice reading has the number of voices in
   * each moment, and vectors of these voices.
   */
  get usesVoiceReadings(): boolean {
    return this.voices.usesVoiceReadings
  }

  /**
   * Adds what the speech model found about the voices in one window of up to 30 s of sound. `placed` has the spans of
   * the recording that form the window, and their starts in the window.
   */
  addVoiceReading(placed: readonly PlacedSpan[], { counts, embeddings, width }: VoiceReading): void {
    this.voiceCounts.add(placed, counts)
    this.frameEmbeddings.add(placed, embeddings, width)
  }

  /**
   * Returns the turns: who speaks from when to when. `expected` is the number of speakers, or null if the caller gave
   * none.
   */
  finish(expected: number | null): Timeline {
    const viewsMin = Math.max(1, Math.ceil((this.samples - viewSamples) / stepSamples) + 1)
    const total = this.samples === 0 ? 0 : viewsMin
    const pending = joinFloats(this.pending)
    for (let at = 0; this.classes.length < total; at += batchViews * stepSamples) {
      const count = Math.min(batchViews, total - this.classes.length)
      const sound = new Float32Array(viewSamples + (count - 1) * stepSamples)
      sound.set(pending.subarray(at, at + sound.length))
      this.segment(sound, count)
    }
    const frames = total === 0 ? 0 : (total - 1) * stepFrames + viewFrames
    this.embedBlock(frames, frames)
    const centroids = findSpeakers(this.pieces, this.voices, expected)
    const { voiceCounts, frameEmbeddings } = this
    const labelled = speakersOfPieces(this.pieces, centroids, frameEmbeddings)
    const speakers = speakersOfViews(this.classes, stepFrames, labelled, centroids.length)
    const { turns, exclusive } = turnsOf({
      views: this.classes.map((classes, view) => ({
        classes,
        speakers: speakers[view] ?? new Int16Array(0),
      })),
      stepFrames,
      pieces: labelled.filter(({ isSure }) => isSure),
      samples: this.samples,
      speakerCount: centroids.length,
      speakerCountIn: voiceCounts.isEmpty ? null : (frame, mean) => voiceCounts.speakersIn(frame, mean),
    })
    return {
      turns: withoutFragments(this.loudness.withoutPauses(turns)),
      exclusive: this.loudness.withoutPauses(exclusive),
    }
  }

  /**
   * Finds the voices in the next `count` views (overlapping spans of ten seconds). `samples` begins at the start of the
   * first of these views.
   */
  private segment(samples: Float32Array, count: number): void {
    const classes = this.voices.segment(samples, count, stepSamples)
    for (let view = 0; view < count; view++) {
      const index = this.classes.length
      const own = classes.slice(view * viewFrames, (view + 1) * viewFrames)
      // The last view (ten seconds) usually ends after the recording, so the end of this view is silence. Voices that
      // the segmentation model finds there are ignored.
      const end = Math.ceil((this.samples - index * stepSamples - frameCentre) / frameStep)
      if (end < viewFrames) own.fill(0, Math.max(0, end))
      this.classes.push(own)
    }
  }

  /**
   * Computes the embeddings of one block: of the pieces that begin at frame `blockFrame` or later and end at frame
   * `end` or before. A piece is a span in which one voice speaks alone. A piece that crosses `end` is not cut: the next
   * block embeds the whole piece. So pieces are searched up to frame `to`, up to which the segmentation model has read
   * the recording. The next block begins where the last piece of this block ends, which may be before `end`.
   */
  private embedBlock(to: number, end: number): void {
    const from = this.blockFrame
    const found = piecesIn(this.classes, stepFrames, { from, to })
    const pieces = found.filter(piece => piece.to <= end)
    const features = this.features.between(from * frameStep, (to + 2) * frameStep)
    this.pieces.push(...embedPieces(pieces, features, this.voices))
    this.blockFrame = pieces.at(-1)?.to ?? Math.min(end, found[0]?.from ?? end)
  }
}
