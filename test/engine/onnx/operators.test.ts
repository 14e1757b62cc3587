// Tests steno's own operations for ONNX Runtime (native/operators) against plain loops in 64-bit floats. Also checks
// that the carried library of these operations has the hash that its build wrote into native/operators/built.json.

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import built from '../../../native/operators/built.json'
import { sha256 } from '../../../src/base/hash.ts'
import { Graph } from '../../../src/engine/onnx/graph.ts'
import { openOperators } from '../../../src/engine/onnx/operators.ts'
import { type ElementType, openSession, tensor } from '../../../src/engine/onnx/session.ts'
import { runtime, unless } from '../../support/engine-room.ts'

type Input = { type: ElementType; dims: number[]; data: Float32Array | Int8Array | Uint8Array }
type Job = {
  inputs: (Input | null)[]
  attributes?: Record<string, number>
  /** The dimensions of each output. Null for an output that is not used. */
  outputs: (number[] | null)[]
}

const headSize = 64
const operators = openOperators(runtime())

test.each(Object.entries(built.programs))('%s is the library that was built', (path, hash) => {
  expect(sha256(readFileSync(join(import.meta.dir, '../../../native', path)))).toBe(hash)
})

test('the library has its operations on each CPU with AVX2 and FMA', () => {
  const [flags = ''] = /^flags.*$/m.exec(readFileSync('/proc/cpuinfo', 'utf8')) ?? []
  const isAble = process.arch === 'x64' && /\bavx2\b/.test(flags) && /\bfma\b/.test(flags)
  expect(operators !== null).toBe(isAble)
})

let state = 11

function random(): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 31 - 1
}

function floats(dims: number[], scale = 1): Input & { data: Float32Array } {
  return { type: 'float32', dims, data: Float32Array.from({ length: product(dims) }, () => scale * random()) }
}

function signedBytes(dims: number[]): Input & { data: Int8Array } {
  const data = Int8Array.from({ length: product(dims) }, () => Math.round(127 * random()))
  return { type: 'int8', dims, data }
}

function product(dims: readonly number[]): number {
  return dims.reduce((all, size) => all * size, 1)
}

function run(operation: string, { inputs, attributes = {}, outputs }: Job): Float32Array[] {
  const graph = new Graph()
  const names = inputs.map((input, index) =>
    input ? graph.input(`input ${index}`, input.type, input.dims) : '',
  )
  const results = outputs.map((dims, index) => (dims ? `output ${index}` : ''))
  graph.add(`steno.${operation}`, names, attributes, results)
  const used = outputs.flatMap((dims, index) => (dims ? [{ dims, name: results[index]! }] : []))
  for (const { dims, name } of used) graph.output(name, 'float32', dims)
  const session = openSession(runtime(), graph.bytes(), 'cpu', null, { operators })
  const given = inputs.flatMap((input, index) => (input ? [{ ...input, name: names[index]! }] : []))
  const tensors = given.map(({ type, data, dims }) => tensor(runtime(), type, data, dims))
  try {
    const found = session.run(
      given.map(({ name }) => name),
      used.map(({ name }) => name),
    )(tensors)
    const copies = found.map((each, index) => each.floats(product(used[index]!.dims)).slice())
    for (const each of found) each.free()
    return copies
  } finally {
    for (const each of tensors) each.free()
    session.close()
  }
}

/** Returns the largest difference between two lists of numbers, divided by the largest absolute value in `expected`. */
function error(found: Iterable<number>, expected: readonly number[]): number {
  const values = [...found]
  const largest = Math.max(...expected.map(Math.abs))
  return Math.max(...expected.map((value, at) => Math.abs(value - values[at]!))) / largest
}

/** The error function, integrated in small steps. */
function erf(limit: number): number {
  const steps = 2000
  const width = limit / steps
  let sum = 0
  for (let step = 0; step < steps; step++) sum += Math.exp(-(((step + 0.5) * width) ** 2))
  return (2 / Math.sqrt(Math.PI)) * sum * width
}

describe.skipIf(!operators)(`steno's own operations${unless(operators && 'here', 'AVX2')}`, () => {
  type LinearCase = { rows: number; inputs: number; columns: number; first: number; outputs: number }
  const linear = (
    { rows, inputs, columns, first, outputs }: LinearCase,
    { gelu = 0, threads = 2, input = floats([rows, inputs], 2), weights = signedBytes([inputs, columns]) },
    added: ReturnType<typeof floats> | null = null,
  ) => {
    const [scales, biases] = [floats([columns], 0.01), floats([columns])]
    const [found] = run('Linear', {
      inputs: [input, weights, scales, biases, added],
      attributes: { gelu, threads, first, outputs },
      outputs: [[rows, outputs]],
    })
    const expected = Array.from({ length: rows * outputs }, (_, at) => {
      const [row, column] = [Math.floor(at / outputs), first + (at % outputs)]
      let sum = 0
      for (let each = 0; each < inputs; each++)
        sum += input.data[row * inputs + each]! * weights.data[each * columns + column]!
      const value = sum * scales.data[column]! + biases.data[column]!
      return (gelu ? (value / 2) * (1 + erf(value / Math.SQRT2)) : value) + (added?.data[at] ?? 0)
    })
    return { found: found!, expected }
  }

  const cases = [
    { rows: 1, inputs: 64, columns: 16, first: 0, outputs: 16 },
    { rows: 7, inputs: 128, columns: 96, first: 32, outputs: 48 },
    { rows: 50, inputs: 1040, columns: 32, first: 0, outputs: 32 },
    { rows: 97, inputs: 512, columns: 64, first: 16, outputs: 32 },
  ]

  test.each(cases)('Linear multiplies $rows rows of $inputs inputs', given => {
    const { found, expected } = linear(given, {})
    expect(error(found, expected)).toBeLessThan(2e-4)
  })

  test('Linear gives the same bytes on one thread and on several threads', () => {
    const given = { rows: 301, inputs: 128, columns: 32, first: 0, outputs: 32 }
    const [input, weights] = [floats([301, 128]), signedBytes([128, 32])]
    const bytesOf = (threads: number) => {
      state = 5
      return [...linear(given, { threads, input, weights }).found]
    }
    expect(bytesOf(8)).toEqual(bytesOf(1))
  })

  test('Linear adds a tensor, and applies GELU', () => {
    const given = { rows: 20, inputs: 64, columns: 32, first: 0, outputs: 32 }
    const added = linear(given, {}, floats([20, 32], 5))
    expect(error(added.found, added.expected)).toBeLessThan(2e-4)
    for (const scale of [0.2, 1, 20]) {
      const input = floats([20, 64], scale)
      const { found, expected } = linear(given, { gelu: 1, input })
      expect(error(found, expected)).toBeLessThan(2e-4)
    }
  })

  test('the largest sums of Linear stay within 32 bits', () => {
    const given = { rows: 2, inputs: 5120, columns: 16, first: 0, outputs: 16 }
    const input = { ...floats([2, 5120]), data: new Float32Array(2 * 5120).fill(3) }
    for (const value of [127, -127]) {
      const weights = { ...signedBytes([5120, 16]), data: new Int8Array(5120 * 16).fill(value) }
      const { found, expected } = linear(given, { input, weights })
      expect(error(found, expected)).toBeLessThan(1e-3)
    }
  })

  test('a row of zeros gives the biases', () => {
    const given = { rows: 3, inputs: 64, columns: 16, first: 0, outputs: 16 }
    const input = { ...floats([3, 64]), data: new Float32Array(3 * 64) }
    const { found, expected } = linear(given, { input })
    expect(error(found, expected)).toBeLessThan(1e-6)
  })

  test('an operation refuses tensors whose dimensions do not fit', () => {
    const attempt = (columns: number) => () =>
      run('Linear', {
        inputs: [floats([2, 64]), signedBytes([64, 32]), floats([32]), floats([32])],
        attributes: { gelu: 0, threads: 1, first: 16, outputs: columns },
        outputs: [[2, columns]],
      })
    expect(attempt(16)).not.toThrow()
    expect(attempt(32)).toThrow('Linear: the dimensions do not fit')
    const attention = (frames: number) => () =>
      run('Attention', { inputs: [floats([frames, 192]), floats([frames])], outputs: [[frames, 64]] })
    expect(attention(1536)).not.toThrow()
    expect(attention(1537)).toThrow('Attention: there are too many frames')
  })

  test('CrossAttention refuses tensors whose dimensions do not fit', () => {
    const attempt = (own: Record<string, number[]>, frames = 3) => {
      const dims = {
        queries: [2, 1, 128],
        keys: [2, 2, frames, 64],
        keyScales: [2, 2, 1, 64],
        values: [2, 2, frames, 64],
        valueScales: [2, 2, 1, 64],
        mass: [2, 1, 1, frames],
        ...own,
      }
      const keys: Input = { type: 'uint8', dims: dims.keys, data: new Uint8Array(product(dims.keys)) }
      const [keyScales, valueScales] = [floats(dims.keyScales), floats(dims.valueScales)]
      const inputs = [
        floats(dims.queries),
        keys,
        keyScales,
        signedBytes(dims.values),
        valueScales,
        floats(dims.mass),
      ]
      return () => run('CrossAttention', { inputs, outputs: [dims.queries, null] })
    }
    expect(attempt({})).not.toThrow()
    expect(attempt({}, 1537)).toThrow('CrossAttention: there are too many frames')
    for (const own of [
      { queries: [1, 1, 128] },
      { queries: [2, 1, 64], keyScales: [2, 1, 1, 64], valueScales: [2, 1, 1, 64] },
      { keys: [2, 2, 3, 32], values: [2, 2, 3, 32] },
      { values: [2, 2, 2, 64] },
      { mass: [1, 1, 1, 3] },
      { mass: [2, 1, 1, 2] },
      { keyScales: [1, 2, 1, 64] },
      { valueScales: [1, 2, 1, 64] },
    ])
      expect(attempt(own)).toThrow('CrossAttention: the dimensions do not fit')
  })

  /**
   * Returns the attention weights of one query, and the weighted sum of `values`. `mass` has one number for each frame,
   * which is added to the score of the frame. In the program, it is log(n) if the frame stands for n frames.
   */
  const attend = (query: number[], keys: number[][], values: number[][], mass: number[]) => {
    const scores = keys.map(
      (key, at) => query.reduce((sum, each, channel) => sum + each * key[channel]!, 0) / 8 + mass[at]!,
    )
    const largest = Math.max(...scores)
    const weights = scores.map(score => Math.exp(score - largest))
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    const shares = weights.map(weight => weight / total)
    const mixed = query.map((_, channel) =>
      values.reduce((sum, value, at) => sum + shares[at]! * value[channel]!, 0),
    )
    return { shares, mixed }
  }

  test.each([
    [1, 1, 1],
    [5, 2, 1],
    [5, 2, 1e-5],
    [17, 1, 3],
    [100, 2, 3],
  ])('Attention mixes the values of %d frames in %d heads, up to %d', (frames, heads, scale) => {
    const width = heads * headSize
    const parts = floats([frames, 3 * width], scale)
    const mass = {
      ...floats([frames]),
      data: Float32Array.from({ length: frames }, (_, at) => Math.log(1 + (at % 3))),
    }
    const [found] = run('Attention', { inputs: [parts, mass], outputs: [[frames, width]] })
    const part = (frame: number, kind: number, head: number) => {
      const from = frame * 3 * width + kind * width + head * headSize
      return [...parts.data.subarray(from, from + headSize)]
    }
    const all = [...Array(frames).keys()]
    const ofHeads = [...Array(heads).keys()].map(head =>
      [0, 1, 2].map(kind => all.map(each => part(each, kind, head))),
    )
    const expected = all.flatMap(frame =>
      ofHeads.flatMap(
        ([queries, keys, values]) => attend(queries![frame]!, keys!, values!, [...mass.data]).mixed,
      ),
    )
    expect(error(found!, expected)).toBeLessThan(1e-3)
  })

  test.each([
    [1, 1],
    [2, 17],
    [3, 40],
  ])('CrossAttention mixes the values for %d tokens and %d frames', (tokens, frames) => {
    const [rows, heads] = [2, 2]
    const width = heads * headSize
    const queries = floats([rows, tokens, width], 3)
    const keys = signedBytes([rows, heads, frames, headSize])
    const values = signedBytes([rows, heads, frames, headSize])
    const [keyScales, valueScales] = [
      floats([rows, heads, 1, headSize], 0.02),
      floats([rows, heads, 1, headSize]),
    ]
    const mass = floats([rows, 1, 1, frames])
    const unsigned: Input = { ...keys, type: 'uint8', data: Uint8Array.from(keys.data, byte => byte + 128) }
    const inputs = [queries, unsigned, keyScales, values, valueScales, mass]
    const [mixed, shares] = run('CrossAttention', {
      inputs,
      outputs: [
        [rows, tokens, width],
        [rows, heads, tokens, frames],
      ],
    })
    const expected = { mixed: new Float64Array(mixed!.length), shares: new Float64Array(shares!.length) }
    for (let index = 0; index < rows * heads; index++) {
      const [row, head] = [Math.floor(index / heads), index % heads]
      const scaled = (bytes: Int8Array, scales: Float32Array) =>
        [...Array(frames).keys()].map(frame =>
          [...Array(headSize).keys()].map(
            channel =>
              bytes[(index * frames + frame) * headSize + channel]! * scales[index * headSize + channel]!,
          ),
        )
      for (let token = 0; token < tokens; token++) {
        const from = (row * tokens + token) * width + head * headSize
        const result = attend(
          [...queries.data.subarray(from, from + headSize)],
          scaled(keys.data, keyScales.data),
          scaled(values.data, valueScales.data),
          [...mass.data.subarray(row * frames, (row + 1) * frames)],
        )
        expected.mixed.set(result.mixed, from)
        expected.shares.set(result.shares, (index * tokens + token) * frames)
      }
    }
    expect(error(mixed!, [...expected.mixed])).toBeLessThan(1e-3)
    expect(error(shares!, [...expected.shares])).toBeLessThan(1e-3)
    const [alone] = run('CrossAttention', { inputs, outputs: [[rows, tokens, width], null] })
    expect([...alone!]).toEqual([...mixed!])
  })
})
