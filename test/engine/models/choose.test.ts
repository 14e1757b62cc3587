import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test'
import { join } from 'node:path'
import { log } from '../../../src/base/log.ts'
import { models } from '../../../src/engine/models/catalogue.ts'
import { prepareModel } from '../../../src/engine/models/choose.ts'
import { builtInSpeech, publishedPlda, publishedVoices } from '../../../src/engine/models/roles.ts'
import { defaultModel, findServing, gpusFor } from '../../../src/engine/models/serving.ts'
import { compactFile } from '../../../src/engine/network/compact.ts'
import { cudaProvider, newCudaFolder } from '../../../src/engine/onnx/library.ts'
import { defaults } from '../../support/defaults.ts'
import { pocket } from '../../support/engine-room.ts'
import { inEnvironment } from '../../support/environment.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { startHub, type TestHub } from '../../support/hub.ts'
import { modelFiles } from '../../support/model-files.ts'

const files = modelFiles('')
const voices = { 'onnx/model.onnx': new Uint8Array(9) }

let dir: string
let hub: TestHub
let endpoint: string | undefined

beforeEach(() => {
  dir = temporaryFolder()
  const others = Object.values(publishedVoices).map(id => [models[id].repository, voices])
  hub = startHub(models.tiny.repository, files, { others: Object.fromEntries(others) })
  endpoint = process.env.HF_ENDPOINT
  process.env.HF_ENDPOINT = hub.endpoint
})

afterEach(async () => {
  if (endpoint === undefined) delete process.env.HF_ENDPOINT
  else process.env.HF_ENDPOINT = endpoint
  await hub.stop()
})

type Change = Partial<Parameters<typeof prepareModel>[0]>

const settings = (change: Change) => ({ ...defaults, modelsDir: dir, device: 'cpu' as const, ...change })
const prepare = (change: Change) => prepareModel(settings(change), () => {})

async function install(name: string, variant = ''): Promise<string> {
  for (const [path, bytes] of Object.entries(modelFiles(variant)))
    await Bun.write(join(dir, name, path), bytes)
  return join(dir, name)
}

test('the default is turbo on a GPU and the built-in model on a CPU', () => {
  expect(defaultModel('cpu')).toBe(builtInSpeech)
  for (const device of ['cuda', 'webgpu'] as const) expect(defaultModel(device)).toBe('large-v3-turbo')
  expect(models[defaultModel('cuda')]).toBeDefined()
})

test('without a configured model a CPU uses the built-in one, and no request is sent', async () => {
  expect(await prepare({})).toMatchObject({ name: builtInSpeech, notice: null })
  expect(hub.asked).toEqual([])
})

test('without a configured model a GPU uses the built-in one until turbo is downloaded, and no request is sent', async () => {
  expect(await prepare({ device: 'cuda' })).toMatchObject({
    name: builtInSpeech,
    notice: `${builtInSpeech} serves until large-v3-turbo is here: run steno models pull large-v3-turbo`,
  })
  const folder = await install('large-v3-turbo')
  expect(await prepare({ device: 'cuda' })).toMatchObject({ name: 'large-v3-turbo', folder, notice: null })
  expect(hub.asked).toEqual([])
})

test('a published model that is configured by name is downloaded with its voice models', async () => {
  const told: string[] = []
  const chosen = await prepareModel(settings({ model: 'tiny' }), message => told.push(message))
  expect(chosen).toMatchObject({
    name: 'tiny',
    folder: join(dir, 'tiny'),
    notice: null,
    voices: { profile: models[publishedVoices.embedding].voices },
  })
  expect(told.at(-2)).toStartWith('The model wespeaker')
  expect(told.at(-1)).toBe('The compact form of tiny is being made.')
  const requests = hub.asked.length
  await prepare({ model: 'tiny' })
  expect(hub.asked.length).toBe(requests)
})

test('a GPU gets 16-bit floats, also if the voice models cannot be downloaded', async () => {
  using logged = spyOn(log, 'error').mockImplementation(() => {})
  const own = startHub(models.tiny.repository, { ...files, ...modelFiles('_fp16') })
  process.env.HF_ENDPOINT = own.endpoint
  expect(await prepare({ model: 'tiny', device: 'cuda' })).toMatchObject({ name: 'tiny' })
  await own.stop()
  expect(own.asked.filter(path => path.includes('encoder'))).toEqual([
    expect.stringContaining('encoder_model_fp16.onnx'),
  ])
  expect(logged.mock.calls.map(([event]) => event)).toEqual(['model not downloaded', 'model not downloaded'])
})

test('a model without weights for this device is downloaded again, and only then', async () => {
  const offline = true
  await install('tiny', '_quantized')
  await expect(prepare({ model: 'tiny', offline })).rejects.toThrow('STENO_OFFLINE forbids fetching tiny')
  expect(await prepare({ model: 'tiny', offline, device: 'cuda' })).toMatchObject({ name: 'tiny' })
  await Bun.write(join(dir, 'tiny', compactFile), 'weights')
  expect(await prepare({ model: 'tiny', offline })).toMatchObject({ name: 'tiny' })
})

test('offline, a model that is configured by name is not downloaded, and one line names the command to run', async () => {
  await expect(prepare({ model: 'tiny', offline: true })).rejects.toThrow('run steno models pull tiny')
  expect(hub.asked).toEqual([])
  await install('tiny')
  expect(await prepare({ model: 'tiny', offline: true })).toMatchObject({ name: 'tiny' })
  expect(hub.asked).toEqual([])
})

test('a damaged model is not downloaded again: the error names the fault and the command to run', async () => {
  const folder = await install('tiny')
  await Bun.write(join(folder, 'config.json'), '{')
  await expect(prepare({ model: 'tiny' })).rejects.toThrow(
    `tiny cannot be used: ${join(folder, 'config.json')} is not JSON, or not an object; run steno models pull tiny`,
  )
  expect(hub.asked).toEqual([])
  const error = await prepare({ model: folder }).catch(({ message }) => message)
  expect(error).toBe(`${folder} cannot be used: ${join(folder, 'config.json')} is not JSON, or not an object`)
})

test('the model in use is found without a download, and a missing one is reported with its command', () => {
  expect(() => findServing(settings({ model: 'tiny' }))).toThrow('steno models pull tiny')
  expect(findServing(settings({}))).toMatchObject({ name: builtInSpeech })
  expect(hub.asked).toEqual([])
})

test('a built-in model keeps its name when it is chosen by its folder, and has its own voice models', async () => {
  const named = await prepare({ model: 'pocket' })
  expect(named).toMatchObject({ name: 'pocket', folder: pocket, voices: { profile: { threshold: 0.55 } } })
  expect(await prepare({ model: pocket })).toEqual(named)
  expect(hub.asked).toEqual([])
})

test('a model folder is used under its own name; a folder without a model and a missing folder are refused', async () => {
  const folder = await install('mine')
  expect(await prepare({ model: folder })).toEqual({
    folder,
    name: 'mine',
    others: [],
    detector: null,
    voices: expect.objectContaining({
      warning: `The speakers were told apart by small models: run ${Object.values(publishedVoices)
        .map(id => `steno models pull ${id}`)
        .join(' && ')} for better ones.`,
    }),
    notice: null,
  })
  await expect(prepare({ model: dir })).rejects.toThrow(`${join(dir, 'config.json')} is missing`)
  await expect(prepare({ model: join(folder, 'config.json') })).rejects.toThrow('nor a folder')
  await expect(prepare({ model: 'tinny' })).rejects.toThrow('the nearest known model is tiny')
})

test('the voice models for download are used when all are installed, and the PLDA model with all its files', async () => {
  const [first = '', ...others] = Object.values(publishedVoices)
  const chosen = () => findServing(settings({ modelsDir: null, dataDir: dir })).voices
  const write = (id: string, path: string) => Bun.write(join(dir, 'models', id, path), 'x')
  await write(first, 'onnx/model.onnx')
  expect(chosen()).toMatchObject({ areSmall: true, plda: null })
  for (const id of others) await write(id, 'onnx/model.onnx')
  const [one = '', other = ''] = models[publishedPlda].files.cpu
  await write(publishedPlda, one)
  expect(chosen()).toMatchObject({
    segmentation: join(dir, 'models', publishedVoices.segmentation),
    warning: null,
    areSmall: false,
    plda: null,
  })
  await write(publishedPlda, other)
  expect(chosen()).toMatchObject({ plda: join(dir, 'models', publishedPlda) })
  const ofTestModel = findServing(settings({ model: 'pocket', modelsDir: null, dataDir: dir })).voices
  expect(ofTestModel).toMatchObject({ profile: { threshold: 0.55 }, plda: null })
})

async function installFast(): Promise<void> {
  const files = ['vocab.txt', 'nemo128.onnx', 'encoder-model.int8.onnx', 'decoder_joint-model.int8.onnx']
  for (const name of files) await Bun.write(join(dir, 'parakeet', name), 'x')
}

async function installFramewise(name: string): Promise<string> {
  const folder = join(dir, name)
  await Bun.write(join(folder, 'tokens.txt'), '<s> 0\n')
  await Bun.write(join(folder, 'model.int8.onnx'), 'weights')
  return folder
}

test('an installed model for further languages is used beside a Whisper model, and the better one if there are two', async () => {
  expect(await prepare({})).toMatchObject({ others: [], detector: null })
  const small = { name: 'omnilingual', folder: await installFramewise('omnilingual') }
  expect(await prepare({})).toMatchObject({ name: builtInSpeech, others: [small], detector: null })
  const large = { name: 'omnilingual-1b', folder: await installFramewise('omnilingual-1b') }
  expect(await prepare({})).toMatchObject({ others: [large] })
  await Bun.write(join(large.folder, 'model.int8.onnx'), '')
  expect(await prepare({})).toMatchObject({ others: [small] })
  expect(await prepare({ model: 'pocket' })).toMatchObject({ others: [] })
})

test('a model for further languages that is used alone gets the built-in model to detect languages', async () => {
  const folder = await installFramewise('omnilingual')
  const chosen = { name: 'omnilingual', folder, others: [], detector: { name: builtInSpeech } }
  expect(await prepare({ model: 'omnilingual' })).toMatchObject(chosen)
})

test('auto-fast serves its languages with the fast model, and all others with the default model', async () => {
  await expect(prepare({ model: 'auto-fast', offline: true })).rejects.toThrow(
    'STENO_OFFLINE forbids fetching parakeet',
  )
  await installFast()
  expect(await prepare({ model: 'auto-fast' })).toMatchObject({
    name: 'parakeet',
    others: [{ name: builtInSpeech }],
    detector: null,
  })
  await installFramewise('omnilingual')
  expect(await prepare({ model: 'auto-fast' })).toMatchObject({
    others: [{ name: builtInSpeech }, { name: 'omnilingual' }],
  })
  expect(hub.asked).toEqual([])
})

test('a GPU uses the float weights of a model, and no compact copy is made', async () => {
  const folder = await install('tiny')
  const messages: string[] = []
  const chosen = await prepareModel(settings({ model: 'tiny', device: 'cuda' }), message =>
    messages.push(message),
  )
  expect([chosen.folder, messages]).toEqual([folder, []])
})

/** Returns the variables of a machine with two GPUs, on which the CUDA provider is not installed yet. */
const onMachineWithGpus = () => ({
  CUDA_VISIBLE_DEVICES: '0,1',
  STENO_NATIVE_DIR: join(dir, 'native'),
  STENO_CACHE_DIR: join(dir, 'cache'),
})

test('several GPUs are used only by a model that runs on a GPU', () =>
  inEnvironment(onMachineWithGpus(), async () => {
    const gpus = (change: Change) => gpusFor(settings({ device: 'auto', ...change }))
    expect([gpus({ model: 'tiny' }), defaultModel('auto')]).toEqual([[], builtInSpeech])
    await Bun.write(join(newCudaFolder(), cudaProvider), '')
    expect([gpus({ model: 'tiny' }), defaultModel('auto')]).toEqual([['0', '1'], 'large-v3-turbo'])
    for (const device of ['cpu', 'webgpu'] as const) expect(gpus({ model: 'tiny', device })).toEqual([])
    expect(gpus({ model: builtInSpeech })).toEqual([])
    // Until the default model is installed, the built-in model is used, which runs only on the CPU.
    expect(gpus({ model: null })).toEqual([])
    await install('large-v3-turbo')
    expect(gpus({ model: null })).toEqual(['0', '1'])
  }))

test('with auto-fast, several GPUs are used by the fast model, also beside a default model in the compact form', () =>
  inEnvironment(onMachineWithGpus(), async () => {
    const gpus = (change: Change) => gpusFor(settings({ device: 'auto', ...change }))
    await Bun.write(join(newCudaFolder(), cudaProvider), '')
    await Bun.write(join(await install('large-v3-turbo'), compactFile), 'weights')
    expect(gpus({ model: null })).toEqual([])
    // The fast model is not installed here. The server downloads it before the engine starts, and then runs it on the
    // GPUs. So the list of GPUs is not empty.
    expect(gpus({ model: 'auto-fast' })).toEqual(['0', '1'])
    await installFast()
    expect(gpus({ model: 'auto-fast' })).toEqual(['0', '1'])
  }))
