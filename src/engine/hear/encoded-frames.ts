// Chooses the model frames (20 ms each) that the encoder of a speech model in the compact form (8-bit weights) reads. A
// window lasts 30 s: its sound, and then constant silence. The encoder reads only some frames of this silence. With 5 s
// of sound, the encoder takes 25 % of the time that it takes for all frames. With 25 s of sound, it takes 90 %.

import { framesPerSecond, windowFrames, windowMelFrames } from '../audio.ts'

/**
 * The model frames (20 ms each) that the encoder reads. `places` has the position of each read frame in the window.
 * `counts` has the number of model frames for which each read frame stands: itself, and the frames after it that the
 * encoder skips.
 */
type ChosenFrames = { places: number[]; counts: number[] }

/**
 * The encoder always reads the first `readAfterSound` model frames (20 ms each) after the sound, and the last
 * `readAtEnd` model frames of the window. Between these two parts, the encoder skips most frames.
 */
const readAfterSound = framesPerSecond
const readAtEnd = 0.2 * framesPerSecond
/**
 * The maximum number of model frames (20 ms each) in a group. After the sound, silence fills the window. The encoder
 * reads all frames at the beginning of this silence (`readAfterSound`) and at its end (`readAtEnd`). To save time, the
 * frames between them are divided into groups, and the encoder reads only the first frame of each group. This frame
 * represents the whole group, so its weight in the attention is multiplied by the size of the group. With this
 * multiplication, the token probabilities differ only a little from those of an encoder that reads all frames. The mean
 * divergence, a measure of this difference in the unit nat, is 0.009. Without the multiplication, it is 0.031.
 */
const group = 8

export function encodedFrames(soundFrames: number): ChosenFrames {
  const places: number[] = []
  const counts: number[] = []
  const first = soundFrames + readAfterSound
  const last = windowFrames - readAtEnd
  for (let place = 0; place < windowFrames; ) {
    const count = place < first || place >= last ? 1 : Math.min(group, last - place)
    places.push(place)
    counts.push(count)
    place += count
  }
  return { places, counts }
}

/** Returns the spectrogram of only the model frames at `places`. One model frame is two spectrogram frames. */
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
