import { expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeCompact } from '../../../src/engine/network/compact.ts'
import { transposed } from '../../../src/engine/network/float-weights.ts'
import { GraphWeights } from '../../../src/engine/network/graph-weights.ts'
import { openSource, openWeights } from '../../../src/engine/network/source.ts'
import { readTensorFile, writeTensorFile } from '../../../src/engine/network/tensor-file.ts'
import { Graph } from '../../../src/engine/onnx/graph.ts'
import { field, number, utf8 } from '../../../src/engine/onnx/protobuf.ts'
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

test('a full disk is one error, which the caller can catch', async () => {
  const make = () => new Float32Array(100_000)
  const drafts = ['one', 'other'].map(name => ({ name, kind: 'F32', dims: [100_000], make }) as const)
  await expect(writeTensorFile('/dev/full', drafts)).rejects.toThrow('ENOSPC')
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

/**
 * Writes a safetensors file with the given header. Adds the entry `__metadata__` to the header, as Hugging Face's library
 * does. `content` are the bytes of the tensors.
 */
function writeSafetensors(path: string, header: object, content = new Uint8Array(16)): void {
  const text = Buffer.from(JSON.stringify({ __metadata__: { format: 'pt' }, ...header }))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(text.length))
  writeFileSync(path, Buffer.concat([length, text, content]))
}

test('weights in bfloat16 are read as floats', () => {
  const path = join(temporaryFolder(), 'model.safetensors')
  // A bfloat16 number is the upper half of a 32-bit float.
  const content = new Uint8Array(Uint16Array.of(0x3f80, 0xc000, 0x3e20, 0).buffer)
  const tensor = { dtype: 'BF16', shape: [4], data_offsets: [0, 8] }
  writeSafetensors(path, { 'encoder.conv1.bias': tensor }, content)
  expect([...openSource(dirname(path)).get('encoder.conv1.bias')!()]).toEqual([1, -2, 0.15625, 0])
  // The code above converts the weights to 32-bit floats. But ONNX Runtime reads the weights of a graph for a GPU from
  // the file, as they are stored. `GraphWeights` supports this only for floats of 32 and 16 bits, not for bfloat16.
  const graph = new GraphWeights(openWeights(dirname(path)), 'float16')
  expect(() => graph.weight('encoder.conv1.bias')).toThrow('in bfloat16, which is not supported')
})

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

const whole = { dtype: 'F32', shape: [4], data_offsets: [0, 16] }

test.each([
  ['that is null', null],
  ['without its place', { ...whole, data_offsets: undefined }],
  ['with half a place', { ...whole, data_offsets: [0] }],
  ['that begins before the file', { ...whole, data_offsets: [-16, 0] }],
  ['that ends before its start', { ...whole, data_offsets: [16, 0] }],
  ['without dimensions', { ...whole, shape: 4 }],
  ['with a dimension that is no number', { ...whole, shape: [null] }],
])('a safetensors file with a tensor %s is refused by its name', (_, tensor) => {
  const path = join(temporaryFolder(), 'model.safetensors')
  writeSafetensors(path, { 'encoder.conv1.bias': tensor })
  for (const read of [readTensorFile, () => openSource(dirname(path))])
    expect(() => read(path)).toThrow(`${path} is not a safetensors file`)
})

test('a safetensors file whose content is lost is refused by its name', () => {
  const path = join(temporaryFolder(), 'model.safetensors')
  for (const content of [
    new Uint8Array(64),
    Uint8Array.of(2, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    '\x04\0\0\0\0\0\0\0null',
  ]) {
    writeFileSync(path, content)
    expect(() => readTensorFile(path)).toThrow(`${path} is not a safetensors file`)
  }
})

test('a model with an empty tensor is refused, and not read without end', async () => {
  const source = new Map(smallSource()).set('decoder.layer_norm.weight', () => new Float32Array(0))
  await expect(writeCompact(source, join(folder, 'empty.safetensors'))).rejects.toThrow(
    'the model has an empty decoder.layer_norm.weight',
  )
})

/** Writes the ONNX files of a model. `graph` is its encoder. Returns the folder of the model. */
async function writeEncoder(graph: Uint8Array): Promise<string> {
  const home = temporaryFolder()
  await Bun.write(join(home, 'onnx/encoder_model.onnx'), graph)
  await Bun.write(join(home, 'onnx/decoder_model_merged.onnx'), new Graph().bytes())
  return home
}

test('weights of an ONNX file may be in another file, which must be whole', async () => {
  const graph = new Graph()
  const dims = [2]
  graph.stored({ type: 'float32', dims, file: 'far.bin', from: 4, bytes: 8 }, 'conv1.bias')
  graph.stored({ type: 'int8', dims, file: 'far.bin', from: 0, bytes: 2 }, 'conv2.bias')
  graph.stored({ type: 'float32', dims: [], file: 'far.bin', from: 0, bytes: 4 }, 'conv1.weight')
  const home = await writeEncoder(graph.bytes())
  await Bun.write(join(home, 'onnx/far.bin'), Float32Array.of(1, 2, 3))
  const source = openSource(home)
  expect([...source.keys()]).toEqual(['encoder.conv1.bias', 'encoder.conv2.bias'])
  expect([...source.get('encoder.conv1.bias')!()]).toEqual([2, 3])
  expect(source.get('encoder.conv2.bias')!).toThrow('which are not floats')
  truncateSync(join(home, 'onnx/far.bin'), 11)
  expect(source.get('encoder.conv1.bias')!).toThrow('far.bin is cut off')
})

test('an ONNX file whose content is something else is named', async () => {
  const home = await writeEncoder(Buffer.from('version https://git-lfs.github.com/spec/v1'))
  expect(() => openSource(home)).toThrow(
    `${join(home, 'onnx/encoder_model.onnx')} cannot be read: this is not an ONNX model`,
  )
})

test('a weight in a file of its own needs no offset and no length in the ONNX file', async () => {
  const place = Buffer.concat([field(1, utf8('location')), field(2, utf8('far.bin'))])
  const constant = Buffer.concat([number(1, 2), number(2, 1), field(8, utf8('conv1.bias')), field(13, place)])
  const home = await writeEncoder(field(7, field(5, constant)))
  await Bun.write(join(home, 'onnx/far.bin'), Float32Array.of(1, 2))
  const find = openSource(home).get('encoder.conv1.bias')!
  expect([...find()]).toEqual([1, 2])
  truncateSync(join(home, 'onnx/far.bin'), 7)
  expect(find).toThrow('far.bin is cut off')
})

test('a weight with fewer or more bytes than its dimensions say is refused', async () => {
  const graph = new Graph()
  graph.constant({ dims: [3], data: Float32Array.of(1, 2) }, 'conv1.bias')
  graph.stored({ type: 'float16', dims: [2], file: 'far.bin', from: 0, bytes: 8 }, 'conv2.bias')
  const home = await writeEncoder(graph.bytes())
  await Bun.write(join(home, 'onnx/far.bin'), new Uint8Array(8))
  const source = openSource(home)
  expect(source.get('encoder.conv1.bias')!).toThrow('encoder.conv1.bias has 8 bytes instead of 12')
  expect(source.get('encoder.conv2.bias')!).toThrow('encoder.conv2.bias has 8 bytes instead of 4')
  const path = join(home, 'model.safetensors')
  writeSafetensors(path, { 'encoder.conv1.bias': { dtype: 'BF16', shape: [4], data_offsets: [0, 16] } })
  expect(openSource(home).get('encoder.conv1.bias')!).toThrow('encoder.conv1.bias has 16 bytes instead of 8')
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
