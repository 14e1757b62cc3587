import { expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeCompact } from '../../../src/engine/network/compact.ts'
import { transposed } from '../../../src/engine/network/float-weights.ts'
import { openSource } from '../../../src/engine/network/source.ts'
import { readTensorFile, writeTensorFile } from '../../../src/engine/network/tensor-file.ts'
import { Graph } from '../../../src/engine/onnx/graph.ts'
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

/** Writes a safetensors file with this header, as Hugging Face's library does, and 16 bytes of tensors. */
function writeSafetensors(path: string, header: object): void {
  const text = Buffer.from(JSON.stringify({ __metadata__: { format: 'pt' }, ...header }))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(text.length))
  writeFileSync(path, Buffer.concat([length, text, Buffer.alloc(16)]))
}

test('metadata of a safetensors file, and tensors that are no floats, are left out', () => {
  const home = temporaryFolder()
  writeSafetensors(join(home, 'model.safetensors'), {
    'model.encoder.conv1.bias': { dtype: 'F32', shape: [2], data_offsets: [0, 8] },
    'model.encoder.conv2.bias': { dtype: 'I64', shape: [1], data_offsets: [8, 16] },
  })
  expect([...openSource(home).keys()]).toEqual(['encoder.conv1.bias'])
  expect(readTensorFile(join(home, 'model.safetensors')).size).toBe(1)
})

test('a safetensors file that is cut off, or that Git LFS has not fetched, is refused', () => {
  const home = temporaryFolder()
  const path = join(home, 'model.safetensors')
  writeSafetensors(path, { 'encoder.conv1.bias': { dtype: 'F32', shape: [4], data_offsets: [0, 16] } })
  const { size } = statSync(path)
  expect(openSource(home).size).toBe(1)
  for (const length of [size - 1, size - 17, 0]) {
    truncateSync(path, length)
    expect(() => openSource(home)).toThrow(`${path} is cut off`)
  }
  writeFileSync(path, 'version https://git-lfs.github.com/spec/v1')
  expect(() => openSource(home)).toThrow('is not a safetensors file')
})

test('a model with an empty tensor is refused, and not read without end', async () => {
  const source = new Map(smallSource()).set('decoder.layer_norm.weight', () => new Float32Array(0))
  await expect(writeCompact(source, join(folder, 'empty.safetensors'))).rejects.toThrow(
    'the model has an empty decoder.layer_norm.weight',
  )
})

test('weights of an ONNX file may be in another file, which must be whole', async () => {
  const home = temporaryFolder()
  mkdirSync(join(home, 'onnx'))
  const graph = new Graph()
  const dims = [2]
  graph.stored({ type: 'float32', dims, file: 'far.bin', from: 4, bytes: 8 }, 'conv1.bias')
  graph.stored({ type: 'int8', dims, file: 'far.bin', from: 0, bytes: 2 }, 'conv2.bias')
  graph.stored({ type: 'float32', dims: [], file: 'far.bin', from: 0, bytes: 4 }, 'conv1.weight')
  await Bun.write(join(home, 'onnx/encoder_model.onnx'), graph.bytes())
  await Bun.write(join(home, 'onnx/decoder_model_merged.onnx'), new Graph().bytes())
  await Bun.write(join(home, 'onnx/far.bin'), Float32Array.of(1, 2, 3))
  const source = openSource(home)
  expect([...source.keys()]).toEqual(['encoder.conv1.bias', 'encoder.conv2.bias'])
  expect([...source.get('encoder.conv1.bias')!()]).toEqual([2, 3])
  expect(source.get('encoder.conv2.bias')!).toThrow('which are not floats')
  truncateSync(join(home, 'onnx/far.bin'), 11)
  expect(source.get('encoder.conv1.bias')!).toThrow('far.bin is cut off')
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
