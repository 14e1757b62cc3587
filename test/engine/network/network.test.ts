import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { openCompact } from '../../../src/engine/hear/compact.ts'
import { voiceNetworkFile } from '../../../src/engine/hear/voice-network.ts'
import { compactFile, writeCompact } from '../../../src/engine/network/compact.ts'
import { decoderModel, forbidden } from '../../../src/engine/network/decoder.ts'
import { type ByteRange, fullRange, halfRange } from '../../../src/engine/network/decoder-attention.ts'
import { encoderModel } from '../../../src/engine/network/encoder.ts'
import type { Own } from '../../../src/engine/network/own-operations.ts'
import { sizeOf } from '../../../src/engine/network/size.ts'
import { readTensorFile } from '../../../src/engine/network/tensor-file.ts'
import { addsBytesExactly } from '../../../src/engine/onnx/byte-products.ts'
import { openOperators } from '../../../src/engine/onnx/operators.ts'
import { openSession, type Session, type Tensor, tensor } from '../../../src/engine/onnx/session.ts'
import { countedSessions } from '../../support/counted-sessions.ts'
import { runtime } from '../../support/engine-room.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { referenceScores, small, smallFacts, smallSource } from './small-whisper.ts'

const { width, heads, layers, frames, mels, vocabulary } = small
const source = smallSource()
const folder = temporaryFolder()
const attentionHeads = [
  [0, 1],
  [1, 0],
] as const
const tokens = [5, 17, 300, 41, 17, 250]
const mel = Float32Array.from({ length: mels * 2 * frames }, (_, at) => Math.sin(at / 5) + Math.sin(at / 47))
const expectedScores = referenceScores(source, mel, tokens).flat()
let encoder: Session
let decoder: Session

beforeAll(() => writeCompact(source, join(folder, compactFile)))

test('the dimensions of a model are derived from its tensors', () => {
  expect(sizeOf(readTensorFile(join(folder, compactFile)))).toEqual({
    mels,
    width,
    heads,
    encoderLayers: layers,
    decoderLayers: layers,
    vocabulary,
  })
})

test('a compact model whose voice network is damaged leaves no session open', async () => {
  const { counted, counts } = countedSessions()
  const damaged = temporaryFolder()
  copyFileSync(join(folder, compactFile), join(damaged, compactFile))
  await Bun.write(join(damaged, voiceNetworkFile), 'no graph at all')
  expect(() => openCompact(counted, damaged, smallFacts)).toThrow(voiceNetworkFile)
  expect(counts).toEqual({ opened: 2, closed: 2 })
})

const numbers = Array.from({ length: layers }, (_, layer) => layer)
const parts = numbers.flatMap(layer => ['key', 'value'].map(part => `${layer}.${part}`))

function integers(values: readonly number[], dims: readonly number[]): Tensor {
  return tensor(runtime(), 'int64', BigInt64Array.from(values, BigInt), dims)
}

/** Runs the encoder on one window. Returns the outputs that the decoder needs, and their names. */
function crossOf(
  sound = mel,
  counts: readonly number[] = everyFrame,
  places = [...everyFrame.keys()],
): Cross {
  const frames = counts.length
  const outputs = ['keys', 'values', 'key_scales', 'value_scales']
  const inputs = [
    tensor(runtime(), 'float32', sound, [1, mels, 2 * frames]),
    integers(places, [frames]),
    tensor(runtime(), 'float32', Float32Array.from(counts), [frames]),
  ]
  const [mass, ...results] = encoder.run(['mel', 'places', 'counts'], ['mass', ...outputs])(inputs)
  const kinds = ['uint8', 'int8', 'float32', 'float32'] as const
  const lengths = [frames, frames, 1, 1]
  const bytes = [1, 1, 4, 4]
  return {
    mass: [...mass!.floats(frames)],
    names: outputs.flatMap(name => numbers.map(layer => `${name}.${layer}`)),
    values: results.flatMap((result, index) =>
      numbers.map(layer => {
        const count = width * lengths[index]!
        const floats = result.floats((layers * count * bytes[index]!) / 4)
        const copy = new Uint8Array(floats.slice().buffer).slice(layer * count * bytes[index]!)
        const memory = kinds[index] === 'float32' ? new Float32Array(copy.buffer) : copy
        return tensor(runtime(), kinds[index]!, memory, [1, heads, lengths[index]!, width / heads])
      }),
    ),
  }
}

const everyFrame = Array.from({ length: frames }, () => 1)

type Cross = { mass: number[]; names: string[]; values: Tensor[] }

type Fed = { scores: Float32Array; attention: Float32Array; cache: Tensor[] }

/**
 * Runs the decoder on the given tokens. `cache` has the keys and values of the earlier positions. The first `start` of
 * these positions are padding.
 */
function feed({ mass, names, values }: Cross, given: readonly number[], cache: Tensor[], start: number): Fed {
  const inputs = ['tokens', 'starts', 'wanted', 'mass', ...parts.map(part => `past.${part}`), ...names]
  const run = decoder.run(inputs, ['scores', 'attention', ...parts.map(part => `present.${part}`)])
  const wanted = given.map((_, at) => at)
  const head = [
    integers(given, [1, given.length]),
    integers([start], [1]),
    integers(wanted, [wanted.length]),
    tensor(runtime(), 'float32', Float32Array.from(mass), [1, 1, 1, mass.length]),
  ]
  const [scores, attention, ...present] = run([...head, ...cache, ...values])
  return {
    scores: scores.floats(given.length * vocabulary),
    attention: attention!.floats(attentionHeads.length * given.length * mass.length),
    cache: present,
  }
}

function emptyCache(positions: number): Tensor[] {
  const memory = new Float32Array(width * positions).fill(9)
  return parts.map(() => tensor(runtime(), 'float32', memory, [1, heads, positions, width / heads]))
}

function relativeError(found: Iterable<number>, expected: readonly number[]): number {
  const values = [...found]
  const error = expected.reduce((sum, value, at) => sum + (value - values[at]!) ** 2, 0)
  return Math.sqrt(error / expected.reduce((sum, value) => sum + value ** 2, 0))
}

const operators = openOperators(runtime())
const isExact = addsBytesExactly(runtime())
/**
 * The forms of the network that are tested. They differ in the operations for matrix products and attention. If steno's
 * own operations do not run on this machine, the titles of the skipped tests in onnx/operators.test.ts say why.
 */
const forms: { form: string; own: Own | null; range: ByteRange | null }[] = [
  { form: 'operations of ONNX Runtime for every CPU', own: null, range: halfRange },
  ...(isExact ? [{ form: 'operations of ONNX Runtime for this CPU', own: null, range: fullRange }] : []),
  ...(operators
    ? [
        { form: "steno's own operations", own: { productThreads: 2 }, range: null },
        {
          form: "steno's own attention, products of ONNX Runtime",
          own: { productThreads: null },
          range: null,
        },
      ]
    : []),
]

describe.each(forms)('$form', ({ own, range }) => {
  beforeAll(() => {
    const tensors = readTensorFile(join(folder, compactFile))
    const size = sizeOf(tensors)
    const open = (model: Uint8Array) => openSession(runtime(), model, 'cpu', folder, { operators })
    encoder = open(encoderModel(tensors, size, own))
    decoder = open(decoderModel(tensors, size, attentionHeads, range))
  })

  afterAll(() => {
    encoder.close()
    decoder.close()
  })

  test('the scores of the compact model differ from those of the float model by at most 3 %', () => {
    const { scores } = feed(crossOf(), tokens, emptyCache(0), 0)
    expect(relativeError(scores, expectedScores)).toBeLessThan(0.03)
  })

  test('the total of a token is the logarithm of the sum of exp(score)', () => {
    const { mass, names, values } = crossOf()
    const inputs = ['tokens', 'starts', 'wanted', 'mass', ...parts.map(part => `past.${part}`), ...names]
    const [scores, totals] = decoder.run(inputs, ['scores', 'total'])([
      integers(tokens, [1, tokens.length]),
      integers([0], [1]),
      integers([...tokens.keys()], [tokens.length]),
      tensor(runtime(), 'float32', Float32Array.from(mass), [1, 1, 1, mass.length]),
      ...emptyCache(0),
      ...values,
    ])
    const all = scores.floats(tokens.length * vocabulary)
    for (const [at, total] of totals.floats(tokens.length).entries()) {
      const own = all.subarray(at * vocabulary, (at + 1) * vocabulary)
      expect(total).toBeCloseTo(Math.log(own.reduce((sum, score) => sum + Math.exp(score), 0)), 4)
    }
  })

  test('scores are the same token by token and for all tokens at once', () => {
    const cross = crossOf()
    const whole = feed(cross, tokens, emptyCache(0), 0)
    let cache = emptyCache(0)
    const scores = tokens.flatMap(token => {
      const fed = feed(cross, [token], cache, 0)
      cache = fed.cache
      return [...fed.scores]
    })
    expect(relativeError(whole.scores, scores)).toBeLessThan(0.02)
  })

  test('padding before the start of a row changes nothing', () => {
    const cross = crossOf()
    const plain = feed(cross, tokens, emptyCache(0), 0)
    const padded = feed(cross, tokens, emptyCache(3), 3)
    expect(relativeError(padded.scores, [...plain.scores])).toBeLessThan(0.02)
  })

  /** Returns the spectrogram of the frames in `places`. Frames from `soundFrames` on are silence. */
  function melAt(places: readonly number[], soundFrames: number): typeof mel {
    const chosen = Array.from({ length: mels }, (_, band) =>
      places.flatMap(place =>
        [0, 1].map(half => (place < soundFrames ? mel[band * 2 * frames + 2 * place + half]! : -0.5)),
      ),
    )
    return Float32Array.from(chosen.flat())
  }

  test('one frame of silence that stands for four frames has the effect of four frames', () => {
    const soundFrames = 10
    const silence = soundFrames + 2
    const before = Array.from({ length: silence }, (_, at) => at)
    const end = frames - 1
    const scoresOf = (places: number[], counts: number[]) =>
      feed(crossOf(melAt(places, soundFrames), counts, places), tokens, emptyCache(0), 0).scores
    const ones = before.map(() => 1)
    const four = scoresOf([...before, silence, silence, silence, silence, end], [...ones, 1, 1, 1, 1, 1])
    const asFour = scoresOf([...before, silence, end], [...ones, 4, 1])
    const asOne = scoresOf([...before, silence, end], [...ones, 1, 1])
    expect(relativeError(asFour, [...four])).toBeLessThan(0.02)
    expect(relativeError(asOne, [...four])).toBeGreaterThan(0.1)
  })

  test('frames that are excluded by their mass change nothing', () => {
    const cross = crossOf()
    const added = 8
    const size = width / heads
    /**
     * Adds frames with arbitrary bytes to the keys or values. The input `mass` excludes these frames from the
     * attention, so the result must not change.
     */
    const longer = (value: Tensor) => {
      const bytes = value.bytes(width * frames)
      const memory = new Uint8Array(width * (frames + added)).map((_, at) => (at * 37) % 256)
      for (let head = 0; head < heads; head++) {
        const own = bytes.subarray(head * frames * size, (head + 1) * frames * size)
        memory.set(own, head * (frames + added) * size)
      }
      return tensor(runtime(), value.type, memory, [1, heads, frames + added, size])
    }
    const values = cross.values.map((value, index) =>
      cross.names[index]!.includes('scales') ? value : longer(value),
    )
    const mass = [...cross.mass, ...Array.from({ length: added }, () => forbidden)]
    const plain = feed(cross, tokens, emptyCache(0), 0)
    const padded = feed({ ...cross, mass, values }, tokens, emptyCache(0), 0)
    expect(relativeError(padded.scores, [...plain.scores])).toBeLessThan(1e-5)
  })

  test('the attention of each requested head sums to 1 over the frames', () => {
    const { attention } = feed(crossOf(), tokens, emptyCache(0), 0)
    for (let row = 0; row < attentionHeads.length * tokens.length; row++) {
      const shares = attention.subarray(row * frames, (row + 1) * frames)
      expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 3)
    }
  })
})
