// Makes damaged copies of the media files in test/fixtures/media. The number of a copy determines its file and its
// damage.

import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { contentTypes } from '../../src/media/formats.ts'
import { type Random, seeded } from '../support/random.ts'
import { fixture } from './files.ts'
import { mediaFixtures } from './fixtures.ts'

export type Mutant = { name: string; bytes: Uint8Array }

/**
 * Returns the damaged file with this number. Successive numbers have different file extensions. After one file of each
 * extension, the next kind of damage follows.
 */
export function mutant(number: number): Mutant {
  const random = seeded(number * 0x9e3779b1)
  const extensions = Object.keys(contentTypes)
  const extension = extensions[number % extensions.length]!
  const ofKind = mediaFixtures.filter(({ name }) => extname(name) === `.${extension}`)
  const { name } = ofKind[random.below(ofKind.length)]!
  const damages = Object.entries(kinds)
  const [kind, damage] = damages[Math.floor(number / extensions.length) % damages.length]!
  const bytes = new Uint8Array(readFileSync(fixture(name)))
  return { name: `${number} ${name} ${kind}`, bytes: damage(bytes, random) }
}

type Damage = (bytes: Uint8Array, random: Random) => Uint8Array

/** The number of bytes at the start of a file that count as its header. */
const headBytes = 512
/** Extreme lengths, counts and times, which often reveal errors. */
const edgeValues = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff]

const kinds: Record<string, Damage> = {
  'bits flipped': (bytes, random) => {
    for (let i = 1 + random.below(40); i > 0; i--) bytes[random.below(bytes.length)]! ^= 1 << random.below(8)
    return bytes
  },
  'cut off': (bytes, random) => bytes.subarray(0, random.below(bytes.length)),
  'numbers in the header replaced': (bytes, random) => {
    const view = new DataView(bytes.buffer)
    for (let i = 1 + random.below(4); i > 0; i--) {
      const at = random.below(Math.min(headBytes, bytes.length - 4))
      view.setUint32(at, edgeValues[random.below(edgeValues.length)]!, random.next() < 0.5)
    }
    return bytes
  },
  'numbers at the end replaced': (bytes, random) => {
    const view = new DataView(bytes.buffer)
    for (let i = 1 + random.below(4); i > 0; i--) {
      const at = Math.max(0, bytes.length - 4 - random.below(2 * headBytes))
      view.setUint32(at, edgeValues[random.below(edgeValues.length)]!, random.next() < 0.5)
    }
    return bytes
  },
  'a piece taken out': (bytes, random) => {
    const from = random.below(bytes.length)
    const to = Math.min(bytes.length, from + 1 + random.below(2000))
    return joined(bytes.subarray(0, from), bytes.subarray(to))
  },
  'a piece put in twice': (bytes, random) => {
    const from = random.below(bytes.length)
    const to = Math.min(bytes.length, from + 1 + random.below(4000))
    return joined(bytes.subarray(0, to), bytes.subarray(from))
  },
  'another file put in': (bytes, random) => {
    const { name } = mediaFixtures[random.below(mediaFixtures.length)]!
    const other = new Uint8Array(readFileSync(fixture(name)))
    return joined(bytes.subarray(0, random.below(bytes.length)), other.subarray(random.below(other.length)))
  },
  'noise in the middle': (bytes, random) => {
    const from = random.below(bytes.length)
    const to = Math.min(bytes.length, from + 1 + random.below(3000))
    for (let at = from; at < to; at++) bytes[at] = random.below(256)
    return bytes
  },
}

function joined(...parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts))
}
