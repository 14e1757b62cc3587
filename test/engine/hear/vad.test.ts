import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { chunkSamples, openVad } from '../../../src/engine/hear/vad.ts'
import { frameSamples } from '../../../src/engine/hear/vad-sizes.ts'
import { vadModel } from '../../../src/engine/onnx/library.ts'
import { openSession, type Tensor, tensor } from '../../../src/engine/onnx/session.ts'
import { readWeights } from '../../../src/engine/onnx/weights.ts'
import { clips, runtime, unless } from '../../support/engine-room.ts'
import { readSound } from '../../support/read-sound.ts'
import { noise, tone } from '../../support/sound.ts'

/**
 * Returns the probability of speech in each frame. Runs the graph that the authors of the model publish. The inputs of
 * the graph are made in the same way as in the code of the authors.
 */
function published(samples: Float32Array): number[] {
  const session = openSession(runtime(), vadModel())
  const run = session.run(['input', 'state', 'sr'], ['output', 'stateN'])
  const rate = tensor(runtime(), 'int64', BigInt64Array.of(16_000n), [])
  let state: Tensor = tensor(runtime(), 'float32', new Float32Array(256), [2, 1, 128])
  const probabilities: number[] = []
  for (let from = 0; from < samples.length; from += frameSamples) {
    const input = new Float32Array(64 + frameSamples)
    input.set(samples.subarray(Math.max(from - 64, 0), from), from === 0 ? 64 : 0)
    input.set(samples.subarray(from, from + frameSamples), 64)
    const [output, after] = run([tensor(runtime(), 'float32', input, [1, input.length]), state, rate])
    probabilities.push(...output.floats(1))
    state = after
  }
  session.close()
  return probabilities
}

const model = await Bun.file(vadModel()).bytes()

function ours(samples: Float32Array, cut: number): number[] {
  const vad = openVad(runtime(), model)
  // A second recording is read at the same time, which must not change the probabilities.
  const other = tone(0.1, 300, 0.5)
  const [speechIn, speechInOther] = [vad.start(), vad.start()]
  const probabilities: number[] = []
  for (let at = 0; at < samples.length; at += cut) {
    speechInOther(other)
    probabilities.push(...speechIn(samples.subarray(at, at + cut)))
  }
  vad.close()
  return probabilities
}

const furthest = (one: number[], other: number[]) =>
  Math.max(...one.map((each, index) => Math.abs(each - other[index]!)))

/** Returns noise with bursts of a tone, so that the speech probabilities vary. */
function bursts(seconds: number): Float32Array {
  const samples = noise(seconds, 0.05)
  for (const [n, value] of tone(seconds, 180, 0.3).entries()) {
    if (Math.floor(n / 5000) % 3 > 0) samples[n]! += value * Math.sin(n / 700)
  }
  return samples
}

test('the probabilities equal those of the published model for any chunk size', () => {
  const samples = bursts(9.3)
  const expected = published(samples)
  for (const cut of [chunkSamples, 40 * frameSamples, frameSamples]) {
    const probabilities = ours(samples, cut)
    expect(probabilities.length).toBe(expected.length)
    expect(furthest(probabilities, expected)).toBeLessThan(1e-4)
  }
  expect(Math.max(...expected) - Math.min(...expected)).toBeGreaterThan(0.01)
  // On a busy machine, this test needs several seconds.
}, 30_000)

test.skipIf(!clips)(
  `the probabilities of speech equal those of the published model${unless(clips, 'clip')}`,
  async () => {
    const [name] = [...new Bun.Glob('en*short*.flac').scanSync(clips!)].sort()
    const samples = await readSound(join(clips!, name!))
    const expected = published(samples)
    expect(furthest(ours(samples, chunkSamples), expected)).toBeLessThan(1e-3)
    expect(Math.max(...expected)).toBeGreaterThan(0.9)
  },
)

test('a file that is not the model is refused with a reason', () => {
  expect(() => openVad(runtime(), new Uint8Array(0))).toThrow('lacks')
  expect(() => readWeights(new TextEncoder().encode('no model at all'))).toThrow('not an ONNX model')
})
