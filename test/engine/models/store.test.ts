import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { lockFile } from '../../../src/base/file-lock.ts'
import { models } from '../../../src/engine/models/catalogue.ts'
import { isModel } from '../../../src/engine/models/layout.ts'
import { listModels } from '../../../src/engine/models/listing.ts'
import { lockPath } from '../../../src/engine/models/pull.ts'
import { pullModel, requiredModels } from '../../../src/engine/models/pull-model.ts'
import { removeModel } from '../../../src/engine/models/remove.ts'
import { publishedVoices } from '../../../src/engine/models/roles.ts'
import { findInstalled, modelsDir } from '../../../src/engine/models/store.ts'
import { verifyModel } from '../../../src/engine/models/verify.ts'
import { limits } from '../../../src/limits.ts'
import { inEnvironment } from '../../support/environment.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { commit, type HubBehaviour, startHub, type TestHub } from '../../support/hub.ts'
import { byRoot, foreignFolder } from '../../support/other-owner.ts'
import { noise } from '../../support/sound.ts'

const bytes = (size: number, seed: number) => new Uint8Array(noise(size / 64_000, 1, seed).buffer)
const text = (words: string) => new TextEncoder().encode(words)

const files = {
  'README.md': text('not wanted'),
  'config.json': text('{"model_type": "whisper"}'),
  'generation_config.json': text('{"a": 1}'),
  'tokenizer.json': text('{"model": {}}'),
  'onnx/encoder_model_quantized.onnx': bytes(64_000, 1),
  'onnx/encoder_model.onnx': bytes(160_000, 2),
  'onnx/decoder_model_merged.onnx': bytes(96_000, 3),
  'onnx/encoder_model_fp16.onnx': bytes(64_000, 4),
  'onnx/decoder_model_merged_fp16.onnx': bytes(64_000, 5),
}
const wanted = [
  'config.json',
  'generation_config.json',
  'onnx/decoder_model_merged.onnx',
  'onnx/encoder_model.onnx',
  'tokenizer.json',
]

/** The small files of the model, which are downloaded before the weights. */
const small = ['config.json', 'generation_config.json', 'tokenizer.json'] as const
/**
 * The sizes of the small files in bytes, for the option `breaksAfter` of the test server. Element n of this option is
 * the number of bytes after which transfer n ends. The small files are transferred first. If `breaksAfter` begins with
 * their sizes, they arrive completely. The next elements are then for the transfers of the weights.
 */
const wholeSmall = small.map(path => files[path].length)

let dir: string
let hub: TestHub | null

beforeEach(() => {
  dir = temporaryFolder()
  hub = null
})

afterEach(async () => {
  await hub?.stop()
})

/** Returns files with these names and some content. */
function namedFiles(names: readonly string[]): Record<string, Uint8Array> {
  return Object.fromEntries(names.map(name => [name, text(name)]))
}

function start(behaviour: HubBehaviour = {}, served: Record<string, Uint8Array> = files) {
  hub = startHub(models.tiny.repository, served, behaviour)
  return hub
}

function pull(
  { endpoint }: TestHub,
  token: string | null = null,
  onProgress = (_: number) => {},
  { gpu } = { gpu: false },
) {
  const signal = new AbortController().signal
  const options = { dir, gpu, offline: false, hub: { endpoint, token }, onProgress }
  return pullModel('tiny', { ...options, signal, pause: async () => {} })
}

test('the list has all built-in models that serve, and only Whisper models have a form', () => {
  const builtIn = listModels(temporaryFolder).filter(model => model.builtIn)
  expect(builtIn.map(({ id, form }) => [id, form])).toEqual([
    ['base', 'compact'],
    ['pocket-segmentation', null],
    ['voice-encoder', null],
  ])
})

test('a pull downloads the needed files, verifies them and writes the lock file', async () => {
  const counted: number[] = []
  const lock = await pull(start(), null, done => counted.push(done))
  expect(lock).toMatchObject({ id: 'tiny', revision: commit })
  expect(lock.files.map(file => file.path).sort()).toEqual(wanted)
  expect(readdirSync(join(dir, 'tiny', 'onnx')).sort()).toEqual([
    'decoder_model_merged.onnx',
    'encoder_model.onnx',
  ])
  expect(isModel(join(dir, 'tiny'))).toBe(true)
  expect(await verifyModel(dir, 'tiny')).toEqual([])
  expect(counted.at(-1)).toBe(lock.files.reduce((sum, file) => sum + file.size, 0))
  expect(counted).toEqual(counted.toSorted((a, b) => a - b))
  expect(listModels(() => dir).find(({ id }) => id === 'tiny')?.bytes).toBeGreaterThan(256_000)
})

test('a GPU gets 16-bit floats, and a repository without the preferred floats gives the others', async () => {
  const weightsFor = async (gpu: boolean, served = files) => {
    const { endpoint, stop } = start({}, served)
    const options = { dir: temporaryFolder(), gpu, offline: false, hub: { endpoint, token: null } }
    const { signal } = new AbortController()
    const lock = await pullModel('tiny', { ...options, signal, onProgress: () => {} })
    await stop()
    return lock.files.map(({ path }) => path).filter(path => path.startsWith('onnx/encoder'))
  }
  const without = (variant: string) =>
    Object.fromEntries(
      Object.entries(files).filter(([path]) => !path.endsWith(`${variant}.onnx`)),
    ) as typeof files
  expect(await weightsFor(false)).toEqual(['onnx/encoder_model.onnx'])
  expect(await weightsFor(true)).toEqual(['onnx/encoder_model_fp16.onnx'])
  expect(await weightsFor(true, without('_fp16'))).toEqual(['onnx/encoder_model.onnx'])
  const half = Object.fromEntries(
    Object.entries(files).filter(([path]) => !/(encoder_model|merged)\.onnx$/.test(path)),
  )
  expect(await weightsFor(false, half as typeof files)).toEqual(['onnx/encoder_model_fp16.onnx'])
})

test('of a model that is no Whisper model, the files of the catalogue are downloaded', async () => {
  const { repository, files: named } = models.omnilingual
  const { endpoint } = start({ others: { [repository]: { ...files, ...namedFiles(named.cpu) } } })
  const options = { dir, gpu: false, offline: false, hub: { endpoint, token: null }, onProgress: () => {} }
  const { signal } = new AbortController()
  const lock = await pullModel('omnilingual', { ...options, signal })
  expect(lock.files.map(({ path }) => path).sort()).toEqual(named.cpu.toSorted())
})

test('a pull of a speech model also pulls the voice models that are missing', () => {
  const voices = Object.values(publishedVoices)
  expect(requiredModels('tiny', dir)).toEqual(['tiny', ...voices])
  expect(requiredModels('base', dir)).toEqual(voices)
  expect(requiredModels(voices[0] ?? '', dir)).toEqual(voices.slice(0, 1))
})

test('a second pull downloads only the files that differ from those of the hub', async () => {
  const hub = start()
  const first = await pull(hub)
  const transfers = () => hub.asked.filter(request => request.includes('/resolve/')).length
  const before = transfers()
  expect(await pull(hub)).toEqual(first)
  expect(transfers()).toBe(before)
  await Bun.write(join(dir, 'tiny', 'tokenizer.json'), '{}')
  // The draft of an interrupted pull, with a complete file whose hash was not checked yet.
  const draft = join(dir, `tiny.${commit.slice(0, 12)}.part`)
  await Bun.write(join(draft, 'config.json.part'), files['config.json'])
  await pull(hub)
  expect(transfers()).toBe(before + 1)
  expect(await verifyModel(dir, 'tiny')).toEqual([])
})

test('a second pull names the files that the hub has changed, and installs them', async () => {
  const first = start()
  await pull(first)
  await first.stop()
  // The new file has the size of the old one, so only its hash shows that the hub has changed it.
  const config = text('{"model_type":"whisper"} ')
  expect(config.length).toBe(files['config.json'].length)
  const { endpoint } = start({}, { ...files, 'config.json': config, 'tokenizer_config.json': text('{}') })
  const changed: string[] = []
  const options = { dir, gpu: false, offline: false, hub: { endpoint, token: null }, onProgress: () => {} }
  const onChange = (paths: readonly string[]) => void changed.push(...paths)
  await pullModel('tiny', { ...options, signal: new AbortController().signal, onChange })
  expect(changed).toEqual(['config.json', 'tokenizer_config.json'])
  expect(await verifyModel(dir, 'tiny')).toEqual([])
})

test('an interrupted transfer resumes where it stopped', async () => {
  const hub = start({ breaksAfter: [...wholeSmall, 50_000, 20_000, 30_000] })
  await pull(hub)
  expect(await verifyModel(dir, 'tiny')).toEqual([])
  const resumed = hub.asked.filter(request => request.includes('bytes='))
  expect(resumed.some(request => request.endsWith('encoder_model.onnx bytes=50000-'))).toBe(true)
  expect(resumed.some(request => request.endsWith('encoder_model.onnx bytes=70000-'))).toBe(true)
})

test('two pulls of one model at the same time download it once', async () => {
  const hub = start()
  const [one, other] = await Promise.all([pull(hub), pull(hub)])
  expect(other).toEqual(one)
  expect(hub.asked.filter(request => request.includes('encoder_model.onnx')).length).toBe(1)
  expect(await verifyModel(dir, 'tiny')).toEqual([])
})

test('a pull that waits for another one can be aborted', async () => {
  const release = lockFile(lockPath(join(dir, 'tiny')))
  const options = {
    dir,
    gpu: false,
    offline: false,
    hub: { endpoint: '', token: null },
    onProgress: () => {},
  }
  const signal = AbortSignal.abort(new Error('stopped'))
  await expect(pullModel('tiny', { ...options, signal })).rejects.toThrow('stopped')
  release?.()
})

test('a model that is being downloaded is not removed', async () => {
  const hub = start()
  const pulled = pull(hub)
  expect(() => removeModel(dir, 'tiny')).toThrow('being fetched')
  await pulled
  expect(removeModel(dir, 'tiny')).toBe(true)
})

test('a pull that waits for another one downloads the model when the other fails', async () => {
  const hub = start({ breaksAfter: [...wholeSmall, 50_000, 0, 0, 0, 0, 0, 0] })
  const [one, other] = await Promise.allSettled([pull(hub), pull(hub)])
  expect([one.status, other.status]).toEqual(['rejected', 'fulfilled'])
  expect(await verifyModel(dir, 'tiny')).toEqual([])
})

test('a pull that waits for another one does not return the older model when the other fails', async () => {
  const first = start()
  await pull(first)
  await first.stop()
  const config = text('{"model_type": "whisper", "a": 1}')
  const newer = start({ breaksAfter: [0, 0, 0, 0, 0, 0, 0] }, { ...files, 'config.json': config })
  const [one, other] = await Promise.allSettled([pull(newer), pull(newer)])
  expect([one.status, other.status]).toEqual(['rejected', 'fulfilled'])
  expect(await Bun.file(join(dir, 'tiny', 'config.json')).bytes()).toEqual(config)
})

test('a second pull resumes the parts that the first one left', async () => {
  const first = start({ breaksAfter: [...wholeSmall, 50_000, 0, 0, 0, 0, 0, 0] })
  await expect(pull(first)).rejects.toThrow('broke off')
  expect(isModel(join(dir, 'tiny'))).toBe(false)
  await first.stop()
  const second = start()
  await pull(second)
  expect(await verifyModel(dir, 'tiny')).toEqual([])
  expect(second.asked.filter(request => request.includes('encoder'))).toEqual([
    expect.stringContaining('bytes=50000-'),
  ])
  expect(second.asked.some(request => request.includes('config.json'))).toBe(false)
})

test('a pull for a CPU does not install what an interrupted pull for a GPU left', async () => {
  const tries = Array(limits.pullTriesMax).fill(0)
  const served = start({
    breaksAfter: [...wholeSmall, files['onnx/encoder_model_fp16.onnx'].length, ...tries],
  })
  await expect(pull(served, null, () => {}, { gpu: true })).rejects.toThrow('broke off')
  const lock = await pull(served)
  expect(lock.files.map(file => file.path).sort()).toEqual(wanted)
  expect(readdirSync(join(dir, 'tiny', 'onnx')).sort()).toEqual([
    'decoder_model_merged.onnx',
    'encoder_model.onnx',
  ])
})

test('a pull removes what interrupted pulls of other commits left, but not those of other models', async () => {
  const other = 'base.0123456789ff.part'
  for (const name of ['tiny.0123456789ff.part', other])
    await Bun.write(join(dir, name, 'config.json.part'), '{')
  await pull(start())
  expect(readdirSync(dir).sort()).toEqual([other, 'tiny', 'tiny.lock'])
})

test('a transfer starts again when the hub ignores the range', async () => {
  await pull(start({ breaksAfter: [...wholeSmall, 50_000], ignoresRange: true }))
  expect(await verifyModel(dir, 'tiny')).toEqual([])
})

test('a file with the wrong hash is downloaded again', async () => {
  const path = 'onnx/encoder_model.onnx'
  await pull(start({ forges: { [path]: bytes(160_000, 9) } }))
  expect(await verifyModel(dir, 'tiny')).toEqual([])
})

test('a file whose hash stays wrong is never installed', async () => {
  const path = 'onnx/encoder_model.onnx'
  const hub = start({}, { ...files })
  const real = hub.endpoint
  // This server answers with wrong bytes for one file, and passes all other requests to `hub`. The hash from `hub` then
  // does not match.
  const forger = Bun.serve({
    port: 0,
    fetch: request => {
      const { pathname, search } = new URL(request.url)
      return pathname.endsWith(path) ? new Response(bytes(160_000, 9)) : fetch(`${real}${pathname}${search}`)
    },
  })
  await expect(pull({ ...hub, endpoint: `http://127.0.0.1:${forger.port}` })).rejects.toThrow('hash')
  await forger.stop(true)
  expect(existsSync(join(dir, 'tiny'))).toBe(false)
})

test('a file name that leads out of the folder is refused', async () => {
  const hub = start({}, { ...files, 'onnx/encoder_model.onnx_data/../../../evil': text('x') })
  await expect(pull(hub)).rejects.toThrow('names a file')
  expect(existsSync(join(dir, '..', 'evil'))).toBe(false)
})

test('the token is sent, and the error without one names HF_TOKEN', async () => {
  const hub = start({ token: 'hf_secret' })
  await expect(pull(hub)).rejects.toThrow('HF_TOKEN')
  await pull(hub, 'hf_secret')
  expect(isModel(join(dir, 'tiny'))).toBe(true)
})

test('verify names a changed file, and remove deletes the model with its drafts', async () => {
  await pull(start())
  await Bun.write(join(dir, 'tiny', 'tokenizer.json'), '{"b": 3}')
  expect(await verifyModel(dir, 'tiny')).toEqual(['tokenizer.json'])
  await Bun.write(join(dir, 'tiny.0123.part', 'config.json'), 'left over')
  await Bun.write(join(dir, 'mine', 'config.json'), 'not a known model')
  expect(removeModel(dir, 'tiny')).toBe(true)
  expect(removeModel(dir, 'mine')).toBe(false)
  expect(readdirSync(dir)).toEqual(['mine'])
})

const unfit: [string, Record<string, Uint8Array>, RegExp][] = [
  [
    'is not of Whisper',
    { ...files, 'config.json': text('{"model_type": "wav2vec2"}') },
    /config\.json is of a model of type wav2vec2, not whisper$/,
  ],
  [
    'lacks its encoder',
    Object.fromEntries(Object.entries(files).filter(([path]) => !path.includes('encoder_model'))),
    /encoder_model\.onnx is missing, in every variant$/,
  ],
]
test('a voice model whose repository lacks its file is never installed', async () => {
  const { endpoint } = start({ others: { [models[publishedVoices.embedding].repository]: {} } })
  const options = { dir, gpu: false, offline: false, hub: { endpoint, token: null }, onProgress: () => {} }
  const pulled = pullModel(publishedVoices.embedding, { ...options, signal: new AbortController().signal })
  await expect(pulled).rejects.toThrow(/onnx\/model\.onnx is missing$/)
  expect(existsSync(join(dir, publishedVoices.embedding))).toBe(false)
})

test.each(unfit)('a repository that %s is never installed', async (_, served, fault) => {
  await expect(pull(start({}, served))).rejects.toThrow(fault)
  expect(existsSync(join(dir, 'tiny'))).toBe(false)
})

const make = (...path: string[]) => mkdirSync(join(...path), { recursive: true })

test('a model is also found in the cache of the user, unless a setting names the folder of the models', () => {
  const [cache, dataDir] = [join(dir, 'cache'), join(dir, 'data')]
  const found = (id: string, modelsDir: string | null = null) =>
    findInstalled(id, { modelsDir, dataDir })?.folder
  return inEnvironment({ STENO_CACHE_DIR: cache }, () => {
    make(cache, 'models/tiny')
    make(cache, 'models/small')
    expect(found('tiny')).toBe(join(cache, 'models/tiny'))
    // Each model is searched for separately: `small` is now in both folders, and `tiny` only in the cache folder.
    make(dataDir, 'models/small')
    expect(found('tiny')).toBe(join(cache, 'models/tiny'))
    expect(found('small')).toBe(join(dataDir, 'models/small'))
    expect(modelsDir({ modelsDir: null, dataDir })).toBe(join(dataDir, 'models'))
    expect(found('tiny', join(dir, 'other'))).toBeUndefined()
  })
})

byRoot('the models of root are not those of the owner of the data folder', () => {
  make(dir, 'models/tiny')
  return inEnvironment({ STENO_CACHE_DIR: dir }, () => {
    expect(findInstalled('tiny', { modelsDir: null, dataDir: temporaryFolder() })).not.toBeNull()
    expect(findInstalled('tiny', { modelsDir: null, dataDir: foreignFolder() })).toBeNull()
  })
})
