// The views, frames and classes of the segmentation model. A view is ten seconds of sound. A class says which voices
// speak in a frame.

import { sampleRate } from '../audio.ts'

export const viewSamples = 10 * sampleRate
/** The number of samples from the start of one frame to the start of the next frame: 16.9 ms. */
export const frameStep = 270
const secondsPerFrame = frameStep / sampleRate
/** The number of samples of sound that one frame of the segmentation model covers. The frames overlap. */
const frameSamples = 991
/** The index of the sample in the middle of the first frame of a view (ten seconds of sound). */
export const frameCentre = (frameSamples - 1) / 2
export const viewFrames = 1 + Math.floor((viewSamples - frameSamples) / frameStep)
/** The maximum number of voices that the segmentation model finds in one view (ten seconds of sound). */
export const localVoices = 3

/**
 * For each class of the segmentation model, the voices that speak, as a bit set. Bit k stands for voice k of the view
 * (ten seconds of sound).
 */
export const classVoices = Uint8Array.of(0, 0b001, 0b010, 0b100, 0b011, 0b101, 0b110)

/** A span of the recording in frames. `from` is its first frame, and `to` is the frame after its last frame. */
export type FrameSpan = { from: number; to: number }

/**
 * Returns the index of the sample at which the time of a frame begins: half of `frameStep` before the middle of the
 * frame. So the time of each frame ends where that of the next begins. The sound that the model reads for a frame is
 * longer, and overlaps with that of other frames.
 */
export function startOf(frame: number): number {
  return frame * frameStep + frameCentre - frameStep / 2
}

/** Divides a span into `count` parts of about the same length. */
export function equalParts({ from, to }: FrameSpan, count: number): FrameSpan[] {
  const edge = (index: number) => from + Math.round((index * (to - from)) / count)
  return Array.from({ length: count }, (_, index) => ({ from: edge(index), to: edge(index + 1) }))
}

export function framesOf(seconds: number): number {
  return Math.round((seconds * sampleRate) / frameStep)
}

export function secondsOf({ from, to }: FrameSpan): number {
  return (to - from) * secondsPerFrame
}
