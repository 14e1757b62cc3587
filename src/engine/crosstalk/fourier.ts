// The discrete Fourier transform of a block of sound.

/** The number of values of a block. It is a power of two. */
export const points = 2048

const half = points / 2
const cosines = Float64Array.from({ length: half }, (_, k) => Math.cos((2 * Math.PI * k) / points))
const sines = Float64Array.from({ length: half }, (_, k) => Math.sin((2 * Math.PI * k) / points))
/** For each index, the index with its bits in reverse order. The algorithm first puts the values into this order. */
const reversed = Uint16Array.from({ length: points }, (_, index) => {
  let result = 0
  for (let bit = 1; bit < points; bit *= 2) result = 2 * result + (index & bit ? 1 : 0)
  return result
})

/** Replaces `points` complex values by their discrete Fourier transform (Cooley–Tukey algorithm). */
export function transform(real: Float64Array, imaginary: Float64Array): void {
  for (let index = 0; index < points; index++) {
    const other = reversed[index]!
    if (other <= index) continue
    swap(real, index, other)
    swap(imaginary, index, other)
  }
  for (let size = 2; size <= points; size *= 2) {
    const step = points / size
    for (let from = 0; from < points; from += size) {
      for (let left = from, turn = 0; turn < half; left++, turn += step) {
        const right = left + size / 2
        const a = real[right]!
        const b = imaginary[right]!
        const cosine = cosines[turn]!
        const sine = sines[turn]!
        const turnedReal = a * cosine + b * sine
        const turnedImaginary = b * cosine - a * sine
        real[right] = real[left]! - turnedReal
        imaginary[right] = imaginary[left]! - turnedImaginary
        real[left] = real[left]! + turnedReal
        imaginary[left] = imaginary[left]! + turnedImaginary
      }
    }
  }
}

function swap(values: Float64Array, one: number, other: number): void {
  const value = values[one]!
  values[one] = values[other]!
  values[other] = value
}
