import { expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { transposed } from '../../../src/engine/network/float-weights.ts'
import { openSource } from '../../../src/engine/network/source.ts'
import { readTensorFile, writeTensorFile } from '../../../src/engine/network/tensor-file.ts'
import { firstOf, unless } from '../../support/engine-room.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { small, smallSource } from './small-whisper.ts'

const folder = temporaryFolder()

test('a tensor file returns its tensors, each aligned to its element size', async () => {
  const path = join(folder, 'some.safetensors')
  await writeTensorFile(path, [
    { name: 'bytes', kind: 'U8', dims: [3], make: () => Uint8Array.of(1, 2, 3) },
    { name: 'halves', kind: 'F16', dims: [1], make: () => Float16Array.of(0.5) },
    { name: 'floats', kind: 'F32', dims: [2, 1], make: () => Float32Array.of(1.5, -2) },
  ])
  const tensors = readTensorFile(path)
  const all = await Bun.file(path).bytes()
  const bytesOf = (name: string) => {
    const { from, bytes } = tensors.get(name)!
    return all.slice(from, from + bytes)
  }
  expect([...bytesOf('bytes')]).toEqual([1, 2, 3])
  expect([...new Float32Array(bytesOf('floats').buffer)]).toEqual([1.5, -2])
  expect([...new Float16Array(bytesOf('halves').buffer)]).toEqual([0.5])
  expect(tensors.get('floats')).toMatchObject({ type: 'float32', dims: [2, 1], file: 'some.safetensors' })
  expect(tensors.get('floats')!.from % 64).toBe(0)
})

test('a tensor of the wrong length is refused', async () => {
  const draft = { name: 'short', kind: 'F32', dims: [2], make: () => new Float32Array(1) } as const
  await expect(writeTensorFile(join(folder, 'short.safetensors'), [draft])).rejects.toThrow(
    'short has 4 bytes',
  )
})

test("a source of Hugging Face's safetensors has the names and floats of the file", async () => {
  const home = join(folder, 'published')
  mkdirSync(home)
  const weights = Float32Array.from({ length: small.width }, (_, at) => at)
  await writeTensorFile(join(home, 'model.safetensors'), [
    { name: 'model.encoder.layers.0.fc1.bias', kind: 'F32', dims: [small.width], make: () => weights },
    {
      name: 'model.decoder.layer_norm.bias',
      kind: 'F16',
      dims: [small.width],
      make: () => Float16Array.from(weights),
    },
    { name: 'proj_out.weight', kind: 'F32', dims: [1], make: () => new Float32Array(1) },
  ])
  const source = openSource(home)
  expect([...source.keys()].toSorted()).toEqual(['decoder.layer_norm.bias', 'encoder.layers.0.fc1.bias'])
  expect(source.get('encoder.layers.0.fc1.bias')!()).toEqual(weights)
  expect(source.get('decoder.layer_norm.bias')!()).toEqual(weights)
})

test('a matrix is transposed', () => {
  expect([...transposed(Float32Array.of(1, 2, 3, 4, 5, 6), [2, 3])]).toEqual([1, 4, 2, 5, 3, 6])
})

const skeletons = firstOf('../shared/real/skeleton')

test.skipIf(!skeletons)(
  `a published export names every weight${unless(skeletons, 'skeleton of an export')}`,
  () => {
    const onnx = join(folder, 'export/onnx')
    mkdirSync(onnx, { recursive: true })
    for (const name of ['encoder_model', 'decoder_model_merged']) {
      const from = join(skeletons!, `${name}.skeleton.onnx`)
      expect(existsSync(from)).toBe(true)
      copyFileSync(from, join(onnx, `${name}.onnx`))
    }
    const names = new Set(openSource(join(folder, 'export')).keys())
    const missing = [...smallSource().keys()].filter(name => !names.has(name))
    expect(missing).toEqual([])
  },
)
