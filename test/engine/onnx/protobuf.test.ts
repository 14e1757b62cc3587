import { expect, test } from 'bun:test'
import { field, number } from '../../../src/engine/onnx/protobuf.ts'
import { fieldsOf, numbersOf, walk } from '../../../src/engine/onnx/protobuf-reader.ts'

/** Reads a varint with BigInt, as the definition of protobuf says: groups of seven bits, the lowest first. */
function int64(bytes: Uint8Array): bigint {
  const all = bytes.reduce((sum, byte, index) => sum | (BigInt(byte & 127) << BigInt(7 * index)), 0n)
  expect(bytes.findIndex(byte => byte < 128)).toBe(bytes.length - 1)
  return BigInt.asIntN(64, all)
}

const powers = Array.from({ length: 53 }, (_, power) => 2 ** power)

test.each([0, ...powers, Number.MAX_SAFE_INTEGER].flatMap(value => [value, value - 1, -value, -value - 1]))(
  'a whole number is written as a varint, and read: %p',
  value => {
    const [key, ...bytes] = number(1, value)
    expect(key).toBe(8)
    expect(int64(Uint8Array.from(bytes))).toBe(BigInt(value))
    if (value >= 0) expect(numbersOf(number(1, value), 1)).toEqual([Math.abs(value)])
    expect(bytes.length).toBe(value < 0 ? 10 : Math.max(1, Math.ceil(value.toString(2).length / 7)))
  },
)

test.each([12.5, Number.NaN, Number.POSITIVE_INFINITY])('%p is refused', value => {
  expect(() => number(1, value)).toThrow('is no whole number')
})

const eightBytes = Uint8Array.of((1 << 3) | 1, 26, 2, 3, 4, 5, 6, 7, 8)
const fourBytes = Uint8Array.of((2 << 3) | 5, 26, 2, 3, 4)
const message = Buffer.concat([
  eightBytes,
  fourBytes,
  number(3, 300),
  field(3, Uint8Array.of(5, 0xac, 2)),
  field(4, Uint8Array.of(9)),
])

test('the fields of a message are found behind fields of every length', () => {
  expect(fieldsOf(message, 4).map(bytes => [...bytes])).toEqual([[9]])
  expect(fieldsOf(message, 3).map(bytes => [...bytes])).toEqual([[5, 0xac, 2]])
  expect(numbersOf(message, 3)).toEqual([300, 5, 300])
  const fields: [number, number][] = []
  walk(message, (id, value, field) => fields.push([id, typeof value === 'number' ? value : field.length]))
  expect(fields).toEqual([
    [1, 9],
    [2, 5],
    [3, 300],
    [3, 5],
    [4, 3],
  ])
})

test.each([
  ['is cut off', message.subarray(0, -1)],
  ['ends in a number', Uint8Array.of(3 << 3, 0x80)],
  ['has a field of an unknown kind', Uint8Array.of(3, 0, 0)],
  ['has a field of 2^70 bytes', Uint8Array.of(10, ...Array(10).fill(0x80), 1, 0)],
])('a message that %s is refused', (_, bytes) => {
  expect(() => fieldsOf(bytes, 1)).toThrow('this is not an ONNX model')
})
