import { expect, test } from 'bun:test'
import { openWhisper } from '../../../src/engine/hear/whisper.ts'
import type { Tensor } from '../../../src/engine/onnx/session.ts'
import { firstOf, runtime, unless } from '../../support/engine-room.ts'

const folder = firstOf('models/whisper-base')
const linux = process.platform === 'linux'

test.skipIf(!folder || !linux)(
  `two windows that are encoded at the same time have the bytes that each has alone${unless(folder, 'built-in model')}`,
  async () => {
    const { encoder, facts, close } = await openWhisper(runtime(), folder ?? '', {
      device: 'cpu',
      variant: 'compact',
    })
    const [one, other] = [100, 350].map(soundFrames => ({
      picture: Float32Array.from({ length: facts.mels * 3000 }, (_, at) => Math.sin(at * soundFrames)),
      soundFrames,
    }))
    if (!one || !other) throw new Error('there are two spectrograms')
    const together = encoder.encodeTwo?.(one, other) ?? []
    const alone = [one, other].map(window => encoder.encode(window))
    const hashes = alone.map(({ tensors }) => hashesOf(tensors))
    expect(together.map(({ tensors }) => hashesOf(tensors))).toEqual(hashes)
    expect(hashes[0]).not.toEqual(hashes[1])
    for (const window of [...together, ...alone]) window.close()
    close()
  },
)

/** Returns hashes of the first two tensors of an encoded window, which are the keys and the values in 8 bits. */
function hashesOf(tensors: readonly Tensor[]): string[] {
  return tensors.slice(0, 2).map(tensor => {
    const length = tensor.dims.reduce((product, size) => product * size, 1)
    return Bun.hash(tensor.bytes(length)).toString(16)
  })
}
