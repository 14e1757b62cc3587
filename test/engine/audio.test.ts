import { expect, test } from 'bun:test'
import { cutSection } from '../../src/engine/audio.ts'

test.each([
  ['inside one part', 10, 20, [160, 320], 1],
  ['over several parts', 20, 100, [320, 1600], 2],
  ['that ends after the sound', 200, 900, [3200, 4000], 5],
])(
  'a section %s has its own samples, and the sound after it is not read',
  async (_, fromMs, toMs, span, parts) => {
    let read = 0
    async function* sound() {
      while (read < 5) {
        const first = 800 * read++
        yield Float32Array.from({ length: 800 }, (_, index) => first + index)
      }
    }
    const samples: number[] = []
    for await (const part of cutSection(sound(), { fromMs, toMs })) samples.push(...part)
    expect([samples[0], samples.at(-1)! + 1, samples.length]).toEqual([...span, span[1]! - span[0]!])
    expect(read).toBe(parts)
  },
)
