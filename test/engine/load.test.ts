import { expect, spyOn, test } from 'bun:test'
import { join } from 'node:path'
import type { Config } from '../../src/config.ts'
import { openModel } from '../../src/engine/load.ts'
import { requireMemory } from '../../src/engine/memory.ts'
import { type VoiceChoice, type VoiceFiles, voicesFor } from '../../src/engine/models/voices.ts'
import { compactFile } from '../../src/engine/network/compact.ts'
import { variantFor } from '../../src/engine/speech.ts'
import { pocket, unless } from '../support/engine-room.ts'
import { inEnvironment } from '../support/environment.ts'
import { temporaryFolder } from '../support/folder.ts'
import { writeCtcModel } from '../support/framewise-models.ts'
import { modelFiles } from '../support/model-files.ts'

const alone = { name: 'mine', others: [], detector: null, voices: { problem: 'none' }, threads: 2 }

async function modelFolder(...variants: string[]): Promise<string> {
  const folder = temporaryFolder()
  const files = Object.assign({}, ...variants.map(modelFiles)) as ReturnType<typeof modelFiles>
  for (const [path, content] of Object.entries(files)) await Bun.write(join(folder, path), content)
  return folder
}

test('each device uses the variant of the weights that is best for it', async () => {
  const folder = await modelFolder('', '_fp16', '_quantized')
  expect(variantFor(folder, 'cpu')).toBe('')
  expect(variantFor(folder, 'cuda')).toBe('_fp16')
  expect(variantFor(await modelFolder(''), 'cuda')).toBe('')
})

const lesser = ['_fp16', '_quantized', '_int8', '_uint8', '_q4', '_q8', '_q4f16', '_bnb4']
test.each(lesser)(
  'on a CPU, %s weights alone are refused in one line that names the files to fetch',
  async variant => {
    const folder = await modelFolder(variant)
    expect(() => variantFor(folder, 'cpu')).toThrow(
      `${folder}/onnx has no encoder_model.onnx with decoder_model_merged.onnx: run steno models pull with STENO_DEVICE=cpu, or put these files there; on a CPU, 16-bit files are slow and quantised files make more errors`,
    )
  },
)

test('half-precision weights are for a GPU', async () => {
  expect(variantFor(await modelFolder('_fp16'), 'cuda')).toBe('_fp16')
  expect(variantFor(await modelFolder('_fp16', ''), 'cpu')).toBe('')
})

test('weights that are larger than the memory are refused, and the largest file is named', async () => {
  const folder = await modelFolder('')
  const files = ['encoder_model', 'decoder_model_merged'].map(name => join(folder, 'onnx', `${name}.onnx`))
  requireMemory(files, 8000)
  expect(() => requireMemory(files, 7999)).toThrow(
    `the weights take 7.8 KB (the largest file is ${files[1]}), and 7.8 KB of memory is available`,
  )
})

const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 208334826\n'

test('a weight file that Git LFS has not fetched is named, if it is one of those that are used', async () => {
  const folder = await modelFolder('', '_fp16')
  await Bun.write(join(folder, 'onnx/decoder_model_merged_fp16.onnx'), pointer)
  const message = () => openModel({ ...alone, folder, device: 'cpu' }).catch(error => error.message)
  expect(await message()).not.toContain('Git LFS')
  const path = join(folder, 'onnx/decoder_model_merged.onnx')
  await Bun.write(path, pointer)
  expect(await message()).toBe(`cpu: ${path} is a pointer of Git LFS, not the file itself: run git lfs pull`)
  await writeCtcModel(folder, ['<s>', ' ', 'a'])
  await Bun.write(join(folder, 'model.int8.onnx'), pointer)
  expect(await message()).toContain('model.int8.onnx is a pointer of Git LFS')
})

test('a model of any kind that is larger than the memory is not loaded', async () => {
  using _memory = spyOn(process, 'availableMemory').mockReturnValue(100)
  const folder = await modelFolder('')
  const message = () => openModel({ ...alone, folder, device: 'cpu' }).catch(error => error.message)
  expect(await message()).toMatch(/^cpu: the weights take 7.8 KB .*, and 100 B of memory is available$/)
  await writeCtcModel(folder, ['<s>', ' ', 'a'])
  expect(await message()).toMatch(
    /^cpu: the weights take .*model.int8.onnx\), and 100 B of memory is available$/,
  )
})

test('a tokenizer that is damaged in the middle, or has a list of tokens without ids, is named', async () => {
  const folder = await modelFolder('')
  const path = join(folder, 'tokenizer.json')
  for (const content of [
    '{"model": {"vocab": {"a: 1}}}',
    '{"added_tokens": [], "model": {"vocab": [1, 2]}}',
  ]) {
    await Bun.write(path, content)
    await expect(openModel({ ...alone, folder, device: 'cpu' })).rejects.toThrow(`${path} cannot be read: `)
  }
})

test.skipIf(!pocket)(`a damaged weight file is named${unless(pocket, 'pocket model')}`, async () => {
  const folder = temporaryFolder()
  for (const name of ['config.json', 'generation_config.json', 'tokenizer.json', 'onnx/encoder_model.onnx'])
    await Bun.write(join(folder, name), Bun.file(join(pocket!, name)))
  await Bun.write(join(folder, 'onnx/decoder_model_merged.onnx'), 'no graph at all')
  const opened = openModel({ ...alone, folder, device: 'cpu' })
  await expect(opened).rejects.toThrow(join(folder, 'onnx/decoder_model_merged.onnx'))
})

test.skipIf(!pocket)(
  `further models add their languages and abilities; one that cannot be loaded is named and left out${unless(pocket, 'pocket model')}`,
  async () => {
    const [good, bad] = [temporaryFolder(), temporaryFolder()]
    await writeCtcModel(good, ['<s>', ' ', 'a'])
    await writeCtcModel(bad, ['<s>', ' ', 'a'], 9)
    const others = [
      { name: 'bad', folder: bad },
      { name: 'pocket', folder: pocket ?? '' },
    ]
    const opened = await openModel({ ...alone, name: 'omnilingual', folder: good, others, device: 'cpu' })
    const { models, facts } = opened
    for (const model of models.speech) model.close()
    expect(models.speech.map(({ name }) => name)).toEqual(['omnilingual', 'pocket'])
    expect([models.detector?.name, facts.translates]).toEqual(['pocket', true])
    expect(facts.languages).toEqual(expect.arrayContaining(['zu', 'en']))
    expect(facts.notes).toEqual([expect.stringContaining('the model bad cannot be loaded: ')])
  },
)

test('without usable voice models, all jobs without diarization still work, and the facts say why', async () => {
  const folder = temporaryFolder()
  await writeCtcModel(folder, ['<s>', ' ', 'a'])
  const factsWith = async (voices: VoiceChoice) => {
    const { models, facts } = await openModel({ ...alone, folder, voices, device: 'cpu' })
    for (const model of models.speech) model.close()
    return [facts.diarization, facts.notes]
  }
  expect(await factsWith({ problem: 'none' })).toEqual(['none', []])
  const damaged = { ...(voicesFor('pocket', '') as VoiceFiles), segmentation: folder }
  expect(await factsWith(damaged)).toEqual([
    expect.stringContaining('cannot be loaded; the log says why'),
    [expect.stringContaining('the voice models cannot be loaded: ')],
  ])
})

test('the error on a device that cannot be used says why', () =>
  inEnvironment({ STENO_NATIVE_DIR: temporaryFolder(), STENO_CACHE_DIR: temporaryFolder() }, async () => {
    const folder = await modelFolder('')
    const message = (device: Config['device']) =>
      openModel({ ...alone, folder, device }).catch(error => error.message)
    expect(await message('cuda')).toBe('cuda: its provider is not here; run: steno runtime pull cuda')
    expect(await message('auto')).toMatch(/^cpu: /)
    await Bun.write(join(folder, compactFile), 'weights')
    expect(await message('cuda')).toMatch(/^weights in the compact form run on the CPU, not on cuda; cpu: /)
    expect(await message('auto')).toMatch(/^cpu: /)
  }))
