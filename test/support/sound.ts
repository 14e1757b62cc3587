// Computes test sounds: tones and noise. The samples are equal in every run.

const rate = 16_000

export function tone(seconds: number, hz: number, level: number): Float32Array {
  return Float32Array.from(
    { length: Math.round(seconds * rate) },
    (_, n) => level * Math.sin((2 * Math.PI * hz * n) / rate),
  )
}

export function noise(seconds: number, level: number, seed = 1): Float32Array {
  let state = seed
  return Float32Array.from({ length: Math.round(seconds * rate) }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return level * (state / 2 ** 31 - 1)
  })
}
