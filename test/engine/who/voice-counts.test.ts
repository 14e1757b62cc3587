import { expect, test } from 'bun:test'
import { frameCentre, frameStep } from '../../../src/engine/who/views.ts'
import { VoiceCounts } from '../../../src/engine/who/voice-counts.ts'

/**
 * Returns three probabilities for each 10 ms: no voice, one voice, two voices or more. `voices` has the number of
 * voices in each 10 ms, so each probability is 0 or 1.
 */
function probabilities(voices: readonly number[]): Float32Array {
  return Float32Array.from(voices.flatMap(number => [0, 1, 2].map(each => Number(each === number))))
}

const repeat = (times: number, number: number) => Array.from({ length: times }, () => number)
const middleOf = (frame: number) => frame * frameStep + frameCentre
/**
 * Returns the number of speakers in each of the first `frames` frames. Several views (ten-second sections) contain a
 * frame, and the segmentation model finds a number of voices in each view. `mean` is the mean of these numbers.
 * `VoiceCounts` combines `mean` with the probabilities of the speech model.
 */
function speakerCounts(counts: VoiceCounts, frames: number, mean = 0.9): number[] {
  return Array.from({ length: frames }, (_, frame) => counts.speakersIn(frame, mean))
}

test('a count belongs to the frame of the recording at which its 10 ms are, also after a cut in the window', () => {
  const counts = new VoiceCounts()
  const second = { from: 48_000, to: 64_000, at: 16_000 }
  const voices = [...repeat(1, 0), ...repeat(50, 1), ...repeat(50, 2), ...repeat(20, 0), ...repeat(80, 1)]
  counts.add([{ from: 16_000, to: 32_000, at: 0 }, second], probabilities(voices))
  for (const [frame, count] of speakerCounts(counts, 300).entries()) {
    const middle = middleOf(frame)
    const edges = [16_000, 24_000, 32_000, 48_000, 51_200, 64_000]
    if (edges.some(edge => Math.abs(edge - middle) < frameStep / 2 + 160)) continue
    const span = edges.findIndex(edge => edge > middle)
    expect([frame, count]).toEqual([frame, [0, 1, 2, 0, 0, 1][span] ?? 0])
  }
})

test('a frame gets the mean of the counts that it touches, and the first count ends where the window begins', () => {
  const counts = new VoiceCounts()
  const voices = repeat(101, 0)
  // Each element of `voices` is the number of voices in 160 samples (10 ms). Element 0 is for the 10 ms before the
  // window, so element 1 begins at sample 0. A frame of the segmentation model covers 991 samples, but gets only the
  // elements at the 270 samples in its middle. For the first frame, these are samples 360 to 629. They lie in element 3
  // (from sample 320 on) and element 4 (from sample 480 to 639).
  voices.fill(1, 3, 5)
  counts.add([{ from: 0, to: 16_000, at: 0 }], probabilities(voices))
  expect(speakerCounts(counts, 3, 0)).toEqual([1, 0, 0])
})

test('the views decide where the speech model is not sure', () => {
  const counts = new VoiceCounts()
  const unsure = Float32Array.from({ length: 3 * 101 }, (_, at) => [0.5, 0.1, 0.4][at % 3]!)
  counts.add([{ from: 0, to: 16_000, at: 0 }], unsure)
  const inTheMiddle = (mean: number) => speakerCounts(counts, 40, mean)[20]
  expect([0, 1, 1.5, 2].map(inTheMiddle)).toEqual([0, 1, 1, 2])
})

test('where all views find speech, a probability of a sixth is enough in a window; outside of the windows, there is no voice', () => {
  const withSpeech = (share: number, mean: number) => {
    const counts = new VoiceCounts()
    const voices = Float32Array.from({ length: 3 * 101 }, (_, at) => [1 - share, share, 0][at % 3]!)
    counts.add([{ from: 0, to: 16_000, at: 0 }], voices)
    return speakerCounts(counts, 100, mean)
  }
  expect(withSpeech(0.2, 1).slice(0, 50)).toEqual(repeat(50, 1))
  expect(withSpeech(0.1, 1).slice(0, 50)).toEqual(repeat(50, 0))
  // A view is a section of ten seconds, and the segmentation model finds the voices in it. Here it finds two voices in
  // all views. The question is only if a frame has speech, so two voices count as one: the views give 1, as above. The
  // speech model gives 0.1. The weight of the views is 0.4, and that of the speech model is 0.6. The sum 0.6 × 0.1 +
  // 0.4 × 1 is less than 0.5, so the frame has no speech.
  expect(withSpeech(0.1, 2).slice(0, 50)).toEqual(repeat(50, 0))
  expect(withSpeech(0, 2).slice(0, 50)).toEqual(repeat(50, 0))
  expect(withSpeech(0.2, 0.9).slice(0, 50)).toEqual(repeat(50, 0))
  expect(withSpeech(0.2, 1).slice(60)).toEqual(repeat(40, 0))
})

test('the windows may overlap and be added in any order, and a recording without windows has no counts', () => {
  const counts = new VoiceCounts()
  expect(counts.isEmpty).toBe(true)
  counts.add([{ from: 20_000, to: 36_000, at: 0 }], probabilities(repeat(101, 1)))
  counts.add([{ from: 0, to: 16_000, at: 0 }], probabilities(repeat(101, 1)))
  counts.add([{ from: 8000, to: 24_000, at: 0 }], probabilities(repeat(101, 2)))
  expect(counts.isEmpty).toBe(false)
  const found = speakerCounts(counts, 200, 2)
  expect([5, 40, 80, 100, 190].map(frame => found[frame])).toEqual([1, 2, 2, 1, 0])
})
