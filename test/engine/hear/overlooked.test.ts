import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { joinFloats } from '../../../src/base/join-floats.ts'
import { findBlocks } from '../../../src/engine/hear/find-windows.ts'
import { withOverlooked } from '../../../src/engine/hear/overlooked.ts'
import { Recording } from '../../../src/engine/hear/recording.ts'
import { openVad, type Vad } from '../../../src/engine/hear/vad.ts'
import { frameSamples } from '../../../src/engine/hear/vad-sizes.ts'
import { vadModel } from '../../../src/engine/onnx/library.ts'
import { clips, runtime, unless } from '../../support/engine-room.ts'
import { readSound } from '../../support/read-sound.ts'

/**
 * Returns a fake voice detection that finds speech in the first `frames` frames of each sound. `read` has the lengths
 * of these sounds in frames.
 */
function fakeVad(frames: number): { vad: Vad; read: number[] } {
  const read: number[] = []
  const start = () => (samples: Float32Array) => {
    read.push(samples.length / frameSamples)
    return new Float32Array(samples.length / frameSamples).fill(0.9, 0, frames)
  }
  return { vad: { start, close() {} }, read }
}

const soundOf = (probabilities: Float32Array) => new Float32Array(probabilities.length * frameSamples)

test('only a long stretch without speech is read again', () => {
  const { vad, read } = fakeVad(8)
  const first = Float32Array.from([0.6, ...Array(38).fill(0.1), 0.6, ...Array(36).fill(0.2), 0.95])
  const found = withOverlooked(vad, soundOf(first), first)
  expect(read).toEqual([38])
  expect(found.subarray(1, 9)).toEqual(new Float32Array(8).fill(0.9))
  expect([found.subarray(0, 1), found.subarray(9)]).toEqual([first.subarray(0, 1), first.subarray(9)])
})

test('the end of a recording is a stretch too, and very short speech in a stretch is left out', () => {
  const { vad, read } = fakeVad(7)
  const first = new Float32Array(50)
  expect(withOverlooked(vad, soundOf(first), first)).toEqual(first)
  expect(read).toEqual([50])
})

test('no separate channel is read again, because a channel may contain the voice of another channel', async () => {
  const found = async (isOneOfChannels: boolean) => {
    const { vad, read } = fakeVad(0)
    const sound = async function* () {
      yield new Float32Array(50 * frameSamples)
    }
    for await (const _ of findBlocks(vad, sound(), new Recording(), { rows: 1, isOneOfChannels }));
    return read
  }
  expect(await found(false)).toEqual([50, 50])
  expect(await found(true)).toEqual([50])
})

test.skipIf(!clips)(`speech 40 dB below the speech before it is found${unless(clips, 'clip')}`, async () => {
  const loud = await readSound(join(clips!, 'doctor.flac'))
  const quiet = loud.map(sample => sample / 100)
  const pause = new Float32Array(16_000)
  const samples = joinFloats([loud, pause, quiet, pause, loud])
  const vad = openVad(runtime(), await Bun.file(vadModel()).bytes())
  const first = vad.start()(samples)
  const found = withOverlooked(vad, samples, first)
  vad.close()
  /**
   * Counts the frames with speech in the part of the recording that begins at sample `from` and is as long as `loud`.
   */
  const spoken = (probabilities: Float32Array, from: number) =>
    probabilities
      .subarray(from / frameSamples, (from + loud.length) / frameSamples)
      .filter(probability => probability >= 0.5).length
  const begin = loud.length + pause.length
  expect(spoken(first, begin)).toBeLessThan(0.5 * spoken(first, 0))
  expect(spoken(found, begin)).toBeGreaterThan(0.9 * spoken(first, 0))
})
