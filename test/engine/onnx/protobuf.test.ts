import { expect, test } from 'bun:test'
import { number } from '../../../src/engine/onnx/protobuf.ts'

/** Reads a varint with BigInt, as the definition of protobuf says: groups of seven bits, the lowest first. */
function int64(bytes: Uint8Array): bigint {
  const all = bytes.reduce((sum, byte, index) => sum | (BigInt(byte & 127) << BigInt(7 * index)), 0n)
  expect(bytes.findIndex(byte => byte < 128)).toBe(bytes.length - 1)
  return BigInt.asIntN(64, all)
}

const powers = Array.from({ length: 53 }, (_, power) => 2 ** power)

test.each([0, ...powers, Number.MAX_SAFE_INTEGER].flatMap(value => [value, value - 1, -value, -value - 1]))(
  'a whole number is written as a varint: %p',
  value => {
    const [key, ...bytes] = number(1, value)
    expect(key).toBe(8)
    expect(int64(Uint8Array.from(bytes))).toBe(BigInt(value))
    expect(bytes.length).toBe(value < 0 ? 10 : Math.max(1, Math.ceil(value.toString(2).length / 7)))
  },
)

test.each([12.5, Number.NaN, Number.POSITIVE_INFINITY])('%p is refused', value => {
  expect(() => number(1, value)).toThrow('is no whole number')
})
