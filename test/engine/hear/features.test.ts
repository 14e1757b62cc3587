import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { extract } from '../../../src/base/zip.ts'
import { listZip } from '../../../src/base/zip-list.ts'
import { openFeatures } from '../../../src/engine/hear/features.ts'
import { bins, melFilters } from '../../../src/engine/mel.ts'
import { runtime } from '../../support/engine-room.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { noise, tone } from '../../support/sound.ts'

/** The cosines and the sines of the angles 2π · n / 400. */
const [cosines, sines] = [Math.cos, Math.sin].map(of =>
  Float64Array.from({ length: 400 }, (_, n) => of((2 * Math.PI * n) / 400)),
) as [Float64Array, Float64Array]

/**
 * Computes one frame of the log-mel spectrogram by definition, with a plain sum for each frequency bin. The sound is
 * padded to 30 s and mirrored at both ends.
 */
function plainFrame(samples: Float32Array, filters: Float32Array, frame: number): Float64Array {
  const whole = 480_000
  const at = (index: number) => {
    const inside = index < 0 ? -index : index >= whole ? 2 * (whole - 1) - index : index
    return samples[inside] ?? 0
  }
  const values = cosines.map((cosine, n) => at(frame * 160 - 200 + n) * (0.5 - 0.5 * cosine))
  const power = Array.from({ length: bins }, (_, bin) => {
    let [real, imaginary] = [0, 0]
    for (let n = 0; n < 400; n++) {
      real += values[n]! * cosines[(bin * n) % 400]!
      imaginary -= values[n]! * sines[(bin * n) % 400]!
    }
    return real ** 2 + imaginary ** 2
  })
  return Float64Array.from({ length: filters.length / bins }, (_, mel) =>
    Math.log10(
      Math.max(
        1e-10,
        power.reduce((sum, each, bin) => sum + each * filters[mel * bins + bin]!, 0),
      ),
    ),
  )
}

test.each([80, 128])(
  '%i mels of a mixed sound equal the plain definition',
  mels => {
    const samples = noise(1.5, 0.01)
    for (const [index, value] of tone(1.5, 440, 0.4).entries()) samples[index]! += value
    const features = openFeatures(runtime(), mels)
    const picture = features.logMel(samples)
    features.close()

    // No value of a spectrogram is lower than its highest value minus 8 (`floor`). These 152 frames cover the whole
    // sound and thus contain the highest value.
    const filters = melFilters(mels)
    const frames = Array.from({ length: 152 }, (_, frame) => plainFrame(samples, filters, frame))
    const floor = Math.max(...frames.flatMap(frame => [...frame])) - 8
    let furthest = 0
    for (const [frame, values] of frames.entries()) {
      for (const [mel, value] of values.entries()) {
        const expected = (Math.max(value, floor) + 4) / 4
        furthest = Math.max(furthest, Math.abs(picture[mel * 3000 + frame]! - expected))
      }
    }
    expect(furthest).toBeLessThan(1e-3)
    expect(picture[2999]).toBeCloseTo((floor + 4) / 4, 4)
  },
  30_000,
)

test('a full window is mirrored at its end', () => {
  const samples = tone(30, 1000, 0.5)
  const features = openFeatures(runtime(), 80)
  const picture = features.logMel(samples)
  features.close()
  const frame = plainFrame(samples, melFilters(80), 2999)
  const peak = frame.indexOf(Math.max(...frame))
  expect(picture[peak * 3000 + 2999]).toBeCloseTo((frame[peak]! + 4) / 4, 4)
})

test('the spectrogram of silence has a single value', () => {
  const features = openFeatures(runtime(), 80)
  for (const length of [0, 1, 16_000]) {
    const picture = features.logMel(new Float32Array(length))
    expect(picture.findIndex(value => Math.abs(value + 1.5) > 1e-6)).toBe(-1)
  }
  features.close()
})

test('the filters equal those of Whisper', async () => {
  const archive = fileURLToPath(new URL('../../fixtures/whisper/mel_filters.npz', import.meta.url))
  const entries = listZip(archive)
  expect(entries.map(({ name }) => name)).toEqual(['mel_80.npy', 'mel_128.npy'])
  const path = join(temporaryFolder(), 'filters.npy')
  for (const entry of entries) {
    await extract(archive, entry, path)
    const published = readFloats(readFileSync(path))
    const ours = melFilters(Number(entry.name.replace(/\D/g, '')))
    expect(ours.length).toBe(published.length)
    expect(Math.max(...ours.map((value, index) => Math.abs(value - published[index]!)))).toBeLessThan(1e-7)
  }
})

/** Reads the 32-bit floats of an .npy file. The 16-bit length of the file's header is at byte 8. */
function readFloats(bytes: Buffer): Float32Array {
  const data = bytes.subarray(10 + bytes.readUInt16LE(8))
  return new Float32Array(new Uint8Array(data).buffer)
}
