// Makes test sounds: tones, noise, and WAV files. The samples are the same in every run.

const rate = 16_000

export function tone(seconds: number, hz: number, level: number): Float32Array {
  return Float32Array.from(
    { length: Math.round(seconds * rate) },
    (_, n) => level * Math.sin((2 * Math.PI * hz * n) / rate),
  )
}

export function noise(seconds: number, level: number, seed = 1): Float32Array {
  const sound = new Float32Array(Math.round(seconds * rate))
  let state = seed
  // For millions of samples, a loop is much faster than `Float32Array.from` with a function.
  for (let at = 0; at < sound.length; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    sound[at] = level * (state / 2 ** 31 - 1)
  }
  return sound
}

type WavFormat = { sampleRate: number; channels: number; bytesPerSample: number }

/** Returns the header of a WAV file with `bytes` bytes of samples. */
export function wavHeader(
  bytes: number,
  { sampleRate, channels, bytesPerSample }: WavFormat,
): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(44)
  const view = new DataView(header.buffer)
  const write = (at: number, text: string) => header.set(new TextEncoder().encode(text), at)
  write(0, 'RIFF')
  view.setUint32(4, 36 + bytes, true)
  write(8, 'WAVEfmt ')
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true)
  view.setUint16(22, channels, true)
  view.setUint32(24, sampleRate, true)
  view.setUint32(28, sampleRate * channels * bytesPerSample, true)
  view.setUint16(32, channels * bytesPerSample, true)
  view.setUint16(34, 8 * bytesPerSample, true)
  write(36, 'data')
  view.setUint32(40, bytes, true)
  return header
}

/** Returns a WAV file of these samples: one channel at 16 kHz. */
export function wavFile(samples: Int16Array): Uint8Array<ArrayBuffer> {
  const header = wavHeader(samples.byteLength, { sampleRate: rate, channels: 1, bytesPerSample: 2 })
  const file = new Uint8Array(header.length + samples.byteLength)
  file.set(header)
  file.set(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength), header.length)
  return file
}
