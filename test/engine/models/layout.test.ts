import { expect, test } from 'bun:test'
import { truncateSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { faultOf } from '../../../src/engine/models/fault.ts'
import { framewiseWeights } from '../../../src/engine/models/framewise-layout.ts'
import { floatVariant, isModel, weightFiles } from '../../../src/engine/models/layout.ts'
import { lockName } from '../../../src/engine/models/lock.ts'
import { verifyModel } from '../../../src/engine/models/verify.ts'
import { compactFile } from '../../../src/engine/network/compact.ts'
import { pocket, unless } from '../../support/engine-room.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { modelFiles } from '../../support/model-files.ts'

/** A placeholder: no test compares the hash. */
const hash = { kind: 'sha256', value: '' }

async function modelFolder(change: Record<string, string | Uint8Array> = {}): Promise<string> {
  const folder = temporaryFolder()
  const files = { ...modelFiles('_quantized'), ...change }
  for (const [path, content] of Object.entries(files)) await Bun.write(join(folder, path), content)
  return folder
}

test.skipIf(!pocket)(`the model for tests has no fault${unless(pocket, 'pocket model')}`, () => {
  expect(faultOf(pocket!)).toBeNull()
})

test('a whole folder has no fault, with its lock file and without', async () => {
  expect(faultOf(await modelFolder())).toBeNull()
  const files = [{ path: 'onnx/encoder_model_quantized.onnx', size: 3000, hash }]
  expect(faultOf(await modelFolder({ [lockName]: JSON.stringify({ files }) }))).toBeNull()
})

test.each([
  '{"files": 5}',
  '{"files": [null]}',
  '{"files": [{"path": "config.json"}]}',
  '{"files": [{"path": "config.json", "size": 1}]}',
  '{"files": [{"path": "config.json", "hash": {}}]}',
])('a damaged list of files, %s, is left out, and a check of the files names it', async lock => {
  const folder = await modelFolder({ [lockName]: lock })
  expect(faultOf(folder)).toBeNull()
  expect(await verifyModel(dirname(folder), basename(folder))).toEqual([lockName])
})

const missing = [
  'config.json',
  'generation_config.json',
  'tokenizer.json',
  'onnx/encoder_model_quantized.onnx',
  'onnx/decoder_model_merged_quantized.onnx',
]
test.each(missing)('a folder without %s is no model, and its fault names the file', async path => {
  const folder = await modelFolder()
  await rm(join(folder, path))
  expect(isModel(folder)).toBe(false)
  expect(faultOf(folder)).toMatch(new RegExp(`^${join(folder, path.replace('_quantized', ''))} is missing`))
})

const damaged: [string, string, string][] = [
  ['config.json', '{"model_type": "whis', 'config.json is not JSON'],
  ['config.json', '[]', 'config.json is not JSON, or not an object'],
  ['config.json', '{"model_type": "wav2vec2"}', 'config.json is of a model of type wav2vec2, not whisper'],
  ['generation_config.json', '', 'generation_config.json is not JSON'],
  ['tokenizer.json', '{"model": {"vocab": {"a": 1, "b"', 'tokenizer.json is not JSON'],
  ['tokenizer.json', '{}', 'tokenizer.json has no vocabulary'],
  [
    'tokenizer.json',
    'version https://git-lfs.github.com/spec/v1\n',
    'tokenizer.json is a pointer of Git LFS',
  ],
  ['onnx/encoder_model_quantized.onnx', '', 'onnx/encoder_model_quantized.onnx is empty'],
]
test.each(damaged)('%s with the content %j is a fault', async (path, content, fault) => {
  expect(faultOf(await modelFolder({ [path]: content }))).toContain(fault)
})

const framewiseFiles = {
  tdt: ['vocab.txt', 'nemo128.onnx', 'encoder-model.onnx', 'decoder_joint-model.onnx'],
  ctc: ['tokens.txt', 'model.onnx'],
}

test.each(Object.values(framewiseFiles).flatMap(names => names.map(name => [name, names] as const)))(
  'a framewise model without %s is no model, and its fault names the file',
  async (missing, names) => {
    const folder = temporaryFolder()
    for (const name of names) await Bun.write(join(folder, name), name)
    expect([isModel(folder), faultOf(folder)]).toEqual([true, null])
    await rm(join(folder, missing))
    expect(isModel(folder)).toBe(false)
    expect(faultOf(folder)).toMatch(new RegExp(`${missing}.* is missing`))
  },
)

test.each(['{"max_tokens', 'null', '[]'])(
  'config.json of a TDT model with the content %j is a fault',
  async content => {
    const folder = temporaryFolder()
    for (const name of framewiseFiles.tdt) await Bun.write(join(folder, name), name)
    expect(faultOf(folder)).toBeNull()
    await Bun.write(join(folder, 'config.json'), content)
    expect(faultOf(folder)).toBe(`${join(folder, 'config.json')} is not JSON, or not an object`)
  },
)

test('a file that has changed after a check is checked again', async () => {
  const folder = await modelFolder()
  const path = join(folder, 'tokenizer.json')
  const whole = await Bun.file(path).text()
  for (const [content, fault] of [
    ['{}', `${path} has no vocabulary`],
    [whole, null],
  ] as const) {
    await Bun.write(path, content)
    expect(faultOf(folder)).toBe(fault)
    expect(faultOf(folder)).toBe(fault)
  }
})

test('a file that was truncated or removed after its download is a fault', async () => {
  const path = 'onnx/encoder_model_quantized.onnx'
  const files = [{ path, size: 3000, hash }]
  const folder = await modelFolder({ [lockName]: JSON.stringify({ files }) })
  truncateSync(join(folder, path), 1000)
  expect(faultOf(folder)).toBe(`${join(folder, path)} has 1000 bytes instead of 3000`)
  const lacking = { files: [...files, { path: 'onnx/encoder_model_quantized.onnx_data', size: 9, hash }] }
  expect(faultOf(await modelFolder({ [lockName]: JSON.stringify(lacking) }))).toContain(
    'onnx_data is empty or missing',
  )
})

test('a folder with weights in the compact form needs no graphs', async () => {
  const folder = await modelFolder({ [compactFile]: new Uint8Array(9) })
  await rm(join(folder, 'onnx'), { recursive: true })
  expect([isModel(folder), faultOf(folder)]).toEqual([true, null])
  expect(weightFiles(folder, '')).toEqual([join(folder, compactFile)])
  truncateSync(join(folder, compactFile), 0)
  expect(faultOf(folder)).toBe(`${join(folder, compactFile)} is empty or missing`)
})

test('the weight files of a variant come with their external data', async () => {
  const folder = await modelFolder({ 'onnx/decoder_model_merged_quantized.onnx_data': new Uint8Array(7) })
  expect(weightFiles(folder, '_quantized')).toEqual(
    [
      'decoder_model_merged_quantized.onnx',
      'decoder_model_merged_quantized.onnx_data',
      'encoder_model_quantized.onnx',
    ].map(name => join(folder, 'onnx', name)),
  )
  expect(weightFiles(folder, '')).toEqual([])
})

test('the weights of one variant are not those of another, and a file of another kind is no weight file', async () => {
  const folder = await modelFolder({
    'onnx/encoder_model.onnx': new Uint8Array(7),
    'onnx/decoder_model_merged.onnx': new Uint8Array(7),
  })
  expect([floatVariant(folder), floatVariant(await modelFolder())]).toEqual(['', null])
  const names = weightFiles(folder, '').map(path => basename(path))
  expect(names).toEqual(['decoder_model_merged.onnx', 'encoder_model.onnx'])
  const lacking = await modelFolder()
  await rm(join(lacking, 'onnx/encoder_model_quantized.onnx'))
  await Bun.write(join(lacking, 'onnx/encoder_model.txt'), 'x')
  expect(isModel(lacking)).toBe(false)
})

test('a GPU prefers float weights, a CPU weights of 8 bits, and both come with their own external data', async () => {
  const folder = temporaryFolder()
  const names = ['model.int8.onnx', 'model.int8.onnx.data', 'model.onnx', 'model.onnx.data', 'model.weights']
  for (const name of ['tokens.txt', 'models.data', ...names]) await Bun.write(join(folder, name), 'x')
  const weights = (gpu: boolean) => framewiseWeights(folder, 'ctc', gpu).map(path => basename(path))
  expect(weights(false).toSorted()).toEqual(names.slice(0, 2))
  expect(weights(true).toSorted()).toEqual(names.slice(2))
})
