import { expect, test } from 'bun:test'
import { bins, melFilters, openFeatures } from '../../../src/engine/hear/features.ts'
import { firstOf, runtime, unless } from '../../support/engine-room.ts'
import { noise, tone } from '../../support/sound.ts'

/** One frame of the log-mel picture by its definition: padded, mirrored, one sum per bin. */
function plainFrame(samples: Float32Array, mels: number, frame: number): Float64Array {
  const whole = 480_000
  const at = (index: number) => {
    const inside = index < 0 ? -index : index >= whole ? 2 * (whole - 1) - index : index
    return samples[inside] ?? 0
  }
  const power = Array.from({ length: bins }, (_, bin) => {
    let [real, imaginary] = [0, 0]
    for (let n = 0; n < 400; n++) {
      const value = at(frame * 160 - 200 + n) * (0.5 - 0.5 * Math.cos((2 * Math.PI * n) / 400))
      real += value * Math.cos((2 * Math.PI * bin * n) / 400)
      imaginary -= value * Math.sin((2 * Math.PI * bin * n) / 400)
    }
    return real ** 2 + imaginary ** 2
  })
  const filters = melFilters(mels)
  return Float64Array.from({ length: mels }, (_, mel) =>
    Math.log10(
      Math.max(
        1e-10,
        power.reduce((sum, each, bin) => sum + each * filters[mel * bins + bin]!, 0),
      ),
    ),
  )
}

test.each([80, 128])('%i mels of a mixed sound equal the plain definition', mels => {
  const samples = noise(1.5, 0.01)
  for (const [index, value] of tone(1.5, 440, 0.4).entries()) samples[index]! += value
  const features = openFeatures(runtime(), mels)
  const picture = features.logMel(samples)
  features.close()

  // The highest value sets the floor. A stationary sound has it in every frame but the first and the last.
  const frames = Array.from({ length: 152 }, (_, frame) => plainFrame(samples, mels, frame))
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
})

test('a full window is mirrored at its end', () => {
  const samples = tone(30, 1000, 0.5)
  const features = openFeatures(runtime(), 80)
  const picture = features.logMel(samples)
  features.close()
  const frame = plainFrame(samples, 80, 2999)
  const peak = frame.indexOf(Math.max(...frame))
  expect(picture[peak * 3000 + 2999]).toBeCloseTo((frame[peak]! + 4) / 4, 4)
})

test('the picture of silence has one value', () => {
  const features = openFeatures(runtime(), 80)
  for (const length of [0, 1, 16_000]) {
    const picture = features.logMel(new Float32Array(length))
    expect(picture.findIndex(value => Math.abs(value + 1.5) > 1e-6)).toBe(-1)
  }
  features.close()
})

const published = firstOf('../shared/tokenizer/mel_filters.npz')

test.skipIf(!published)(
  `the filters equal those of Whisper${unless(published, 'mel_filters.npz')}`,
  async () => {
    for (const [name, filters] of await readArrays(published!)) {
      const mels = Number(name.replace('mel_', ''))
      const ours = melFilters(mels)
      expect(filters.length).toBe(mels * bins)
      expect(Math.max(...ours.map((each, index) => Math.abs(each - filters[index]!)))).toBeLessThan(1e-7)
    }
  },
)

/** The arrays of an .npz file: a zip of deflated .npy files, each 4-byte floats after a header. */
async function readArrays(path: string): Promise<[string, Float32Array][]> {
  const bytes = Buffer.from(await Bun.file(path).arrayBuffer())
  const arrays: [string, Float32Array][] = []
  const directory = bytes.lastIndexOf('PK\x05\x06')
  const count = bytes.readUInt16LE(directory + 10)
  let entry = bytes.readUInt32LE(directory + 16)
  for (let index = 0; index < count; index++) {
    const [method, packed] = [bytes.readUInt16LE(entry + 10), bytes.readUInt32LE(entry + 20)]
    const nameLength = bytes.readUInt16LE(entry + 28)
    const name = bytes.toString('utf8', entry + 46, entry + 46 + nameLength)
    const local = bytes.readUInt32LE(entry + 42)
    const from = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28)
    const body = bytes.subarray(from, from + packed)
    const plain = method === 8 ? Buffer.from(Bun.inflateSync(new Uint8Array(body))) : body
    const data = plain.subarray(10 + plain.readUInt16LE(8))
    arrays.push([name.replace('.npy', ''), new Float32Array(new Uint8Array(data).buffer)])
    entry += 46 + nameLength + bytes.readUInt16LE(entry + 30) + bytes.readUInt16LE(entry + 32)
  }
  return arrays
}
