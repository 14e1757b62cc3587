// Chooses the model frames of a window that the encoder reads. The silence after the sound of a window is constant,
// so one frame of this silence can stand for several frames. For a window with 5 s of sound, the encoder then needs a
// quarter of the time.

import { framesPerSecond, windowFrames, windowMelFrames } from '../audio.ts'

/**
 * The frames that the encoder reads. `places[n]` is the position of a frame in the window. `counts[n]` is the number
 * of frames for which this frame stands.
 */
type ChosenFrames = { places: number[]; counts: number[] }

/**
 * The maximum length of the sound in a window, in model frames, for which the encoder skips frames of the silence after
 * the sound. Most windows of a long recording have more sound. Skipping frames in these windows too saved no CPU time in a
 * test, and caused 2 % more word errors.
 */
const soundMax = (2 / 3) * windowFrames
/**
 * Every frame is read in these two parts of the silence, in model frames: directly after the sound, and at the end of
 * the window.
 */
const readAfterSound = framesPerSecond
const readAtEnd = 0.2 * framesPerSecond
/**
 * In the other silence, one frame stands for `group` frames. The encoder's attention counts this frame `group` times.
 * With this factor, the output probabilities diverge by 0.009 nats a token from the probabilities with all frames.
 * Without the factor, the divergence is 0.031 nats.
 */
const group = 8

export function encodedFrames(soundFrames: number): ChosenFrames {
  const places: number[] = []
  const counts: number[] = []
  const first = soundFrames <= soundMax ? soundFrames + readAfterSound : windowFrames
  const last = windowFrames - readAtEnd
  for (let place = 0; place < windowFrames; ) {
    const count = place < first || place >= last ? 1 : Math.min(group, last - place)
    places.push(place)
    counts.push(count)
    place += count
  }
  return { places, counts }
}

/** Returns the part of the spectrogram for the model frames at `places`. A model frame is two spectrogram frames. */
export function pictureOfFrames(
  picture: Float32Array,
  mels: number,
  places: readonly number[],
): Float32Array {
  if (places.length === windowFrames) return picture
  const chosen = new Float32Array(mels * 2 * places.length)
  let to = 0
  for (let band = 0; band < mels; band++) {
    const from = band * windowMelFrames
    for (const place of places) {
      chosen[to++] = picture[from + 2 * place]!
      chosen[to++] = picture[from + 2 * place + 1]!
    }
  }
  return chosen
}
