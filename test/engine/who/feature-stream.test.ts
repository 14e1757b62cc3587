import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Embedder } from '../../../src/engine/who/embedder.ts'
import { openEncoder } from '../../../src/engine/who/encoder.ts'
import { FeatureStream } from '../../../src/engine/who/feature-stream.ts'
import { openWespeaker } from '../../../src/engine/who/wespeaker.ts'
import { firstOf, runtime, unless } from '../../support/engine-room.ts'
import { noise } from '../../support/sound.ts'

const models = firstOf('models/voice-encoder') ? 'models' : null
const open: [string, (folder: string) => Embedder][] = [
  ['mel', folder => openEncoder(runtime(), join(folder, 'voice-encoder'), 'cpu')],
  ['fbank', folder => openWespeaker(runtime(), join(folder, 'pocket/wespeaker-pocket'), 'cpu')],
]

test.skipIf(!models).each(open)(
  `the %s features of sound in parts are those of the whole sound${unless(models, 'voice models')}`,
  (_, openEmbedder) => {
    const embedder = openEmbedder(models ?? '')
    const { width } = embedder
    const sound = noise(9.87, 0.1, 3)
    const whole = embedder.features(sound)
    const stream = new FeatureStream(embedder)
    // The last part has 50 samples, which is less than the step between two frames (160 samples).
    const edges = [0, 31_007, 80_000, sound.length - 50, sound.length]
    for (const [index, to] of edges.entries()) {
      if (index === 0) continue
      const from = edges[index - 1]!
      stream.add(sound.subarray(from, to))
      const isLast = index === edges.length - 1
      const { rows, first } = stream.between(Math.max(0, from - 3200), isLast ? to : to - 1600)
      expect(first).toBe(Math.floor(Math.max(0, from - 3200) / 160))
      const expected = whole.subarray(first * width, first * width + rows.length)
      expect(rows.length).toBeGreaterThan(width)
      expect(rows.length).toBe(expected.length)
      expect(
        rows.findIndex((value, at) => Math.abs(value - expected[at]!) > 1e-5 * Math.abs(expected[at]!)),
      ).toBe(-1)
      if (isLast) expect(first * width + rows.length).toBe(whole.length)
    }
  },
)
