// Finds out whether a quiet channel has the same sound as a loud channel. The sound in the quiet channel may have
// another frequency response, a short echo, opposite phase, or a delay of some milliseconds in either direction.

import { points, transform } from './fourier.ts'
import { reducedRate } from './reduced.ts'

/** The step from one comparison to the next, in samples at the reduced rate: 64 ms. */
export const hop = 0.064 * reducedRate
/**
 * The number of hops (64 ms each) that one comparison reads from each channel. Of the quiet channel, only the middle
 * three hops are compared. The loud channel needs all five hops, because its sound may come up to 52 ms earlier or
 * later.
 */
export const hopsRead = 5
const [begin, end] = [hop, 4 * hop]
/** The longest delay between two channels, in samples at the reduced rate: 52 ms. */
const delayMax = 0.052 * reducedRate
/**
 * The number of weights of the filter that predicts the quiet sound from the loud sound. There is one weight for each
 * sample at the reduced rate (4000 samples per second), so the filter covers 4 ms.
 */
const taps = 16
/**
 * The filter predicts the quiet sound with one weight for each of `taps` consecutive delays of the loud sound.
 * `tapsBefore` of these delays are shorter than the delay that `delayBetween` finds. The found delay is a whole number
 * of samples, but the real delay may lie between two samples. The filter then needs weights for delays on both sides of
 * the real delay.
 */
const tapsBefore = 6
/**
 * The weights of the filter are the solution of linear equations with the matrix `gram`. To the diagonal of `gram`,
 * `ridge` times the energy of the loud channel's sound is added, so that the equations always have a solution.
 */
const ridge = 1e-4

const real = new Float64Array(points)
const imaginary = new Float64Array(points)
const crossReal = new Float64Array(points)
const crossImaginary = new Float64Array(points)
/**
 * The factor by which `crossReal` is larger than the correlation. `correlate` computes the spectra of both sounds with
 * one transform. To separate them exactly, it would have to divide by 2. It leaves this division out, so each spectrum
 * is twice as large, and the product of the two is four times as large. The transform of this product multiplies by
 * `points`.
 */
const crossScale = 4 * points
const gram = new Float64Array(taps * taps)
const root = new Float64Array(taps * taps)
const products = new Float64Array(taps)
const solved = new Float64Array(taps)

/**
 * Predicts the middle three of the five hops (64 ms each) of `quiet` from `loud`. The sound in `loud` may come up to 52
 * ms earlier or later, so for the outer hops it may lie outside the five hops. `share` is the part of the energy of
 * `quiet` that the prediction explains: near 0 for different sounds, near 1 for the same sound. `gain` is the energy of
 * the prediction, divided by the energy of the same three hops of `loud`, moved by the delay between the two sounds.
 * `energy` is the energy of the middle three hops of `quiet`.
 */
export function sameSound(
  quiet: Float64Array,
  loud: Float64Array,
  energy: number,
): { share: number; gain: number } {
  if (energy === 0) return { share: 0, gain: 0 }
  const delay = delayBetween(quiet, loud)
  const source = energyOf(loud, begin - delay, end - delay)
  if (source === 0) return { share: 0, gain: 0 }
  const explained = explainedEnergy(loud, { first: delay - tapsBefore, added: ridge * source })
  return { share: Math.min(1, explained / energy), gain: explained / source }
}

export function energyOf(sound: Float64Array, from: number, to: number): number {
  let energy = 0
  for (let at = from; at < to; at++) energy += sound[at]! * sound[at]!
  return energy
}

/**
 * Returns the delay, in samples at the reduced rate, at which the loud sound most resembles the quiet sound. The phase
 * may be the same or opposite.
 */
function delayBetween(quiet: Float64Array, loud: Float64Array): number {
  correlate(quiet, loud)
  let best = 0
  let found = 0
  let energy = energyOf(loud, begin + delayMax, end + delayMax)
  for (let delay = -delayMax; delay <= delayMax; delay++) {
    const product = crossReal[(delay + points) % points]!
    const likeness = energy > 0 ? (product * product) / energy : 0
    if (likeness > best) {
      best = likeness
      found = delay
    }
    const entering = loud[begin - delay - 1]!
    const leaving = loud[end - delay - 1]!
    energy += entering * entering - leaving * leaving
  }
  return found
}

/**
 * Writes the correlation of the two sounds at each delay to `crossReal`. The negative delays are at the end of this
 * array. One transform computes both spectra: the quiet sound is the real part of its input, and the loud sound is the
 * imaginary part.
 */
function correlate(quiet: Float64Array, loud: Float64Array): void {
  real.fill(0)
  imaginary.fill(0)
  real.set(quiet.subarray(begin, end), begin)
  imaginary.set(loud)
  transform(real, imaginary)
  for (let bin = 0; bin < points; bin++) {
    const mirrored = (points - bin) % points
    const quietReal = real[bin]! + real[mirrored]!
    const quietImaginary = imaginary[bin]! - imaginary[mirrored]!
    const loudReal = imaginary[bin]! + imaginary[mirrored]!
    const loudImaginary = real[mirrored]! - real[bin]!
    // The values are the complex conjugate of the correlation's spectrum. With the conjugate, the forward transform
    // below does the work of an inverse transform: it gives the conjugate of the correlation, multiplied by a constant.
    // The correlation is real, so it is equal to its conjugate.
    crossReal[bin] = quietReal * loudReal + quietImaginary * loudImaginary
    crossImaginary[bin] = quietReal * loudImaginary - quietImaginary * loudReal
  }
  transform(crossReal, crossImaginary)
}

/**
 * Predicts the quiet sound from the loud sound with a filter of `taps` weights, and returns the energy of the
 * prediction. The best weights (least squares) are the solution of linear equations with the matrix `gram`. `first` is
 * the delay of the first weight. `added` is added to the diagonal of `gram`, so that the equations always have a
 * solution. Also reads `crossReal`, to which `correlate` has written the correlation of the two sounds.
 */
function explainedEnergy(loud: Float64Array, { first, added }: { first: number; added: number }): number {
  for (let tap = 0; tap < taps; tap++)
    products[tap] = crossReal[(first + tap + points) % points]! / crossScale
  // Two sums in one loop take little more time than one, because neither waits for the other.
  for (let tap = 0; tap < taps; tap += 2) {
    let own = 0
    let next = 0
    for (let at = begin - first; at < end - first; at++) {
      own += loud[at]! * loud[at - tap]!
      next += loud[at]! * loud[at - tap - 1]!
    }
    gram[tap] = own
    gram[tap + 1] = next
  }
  for (let row = 1; row < taps; row++) {
    for (let column = row; column < taps; column++) {
      const entering = loud[begin - first - row]! * loud[begin - first - column]!
      const leaving = loud[end - first - row]! * loud[end - first - column]!
      gram[row * taps + column] = gram[(row - 1) * taps + column - 1]! + entering - leaving
    }
  }
  return solve(added)
}

/**
 * Solves the equations of the filter by Cholesky decomposition. Returns the energy of the quiet sound as the filter
 * predicts it from the loud sound. `added` is added to the diagonal of `gram`, so that the equations always have a
 * solution. Reads only the upper half of the symmetric matrix `gram`.
 */
function solve(added: number): number {
  let explained = 0
  for (let row = 0; row < taps; row++) {
    for (let column = 0; column <= row; column++) {
      let rest = gram[column * taps + row]! + (row === column ? added : 0)
      for (let at = 0; at < column; at++) rest -= root[row * taps + at]! * root[column * taps + at]!
      root[row * taps + column] =
        row === column ? Math.sqrt(Math.max(rest, added)) : rest / root[column * taps + column]!
    }
    let rest = products[row]!
    for (let at = 0; at < row; at++) rest -= root[row * taps + at]! * solved[at]!
    solved[row] = rest / root[row * taps + row]!
    explained += solved[row]! * solved[row]!
  }
  return explained
}
