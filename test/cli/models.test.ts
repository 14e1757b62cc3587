import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeRandomModel } from '../../scripts/bench/support/random-model.ts'
import { models } from '../../src/engine/models/catalogue.ts'
import { lockName } from '../../src/engine/models/lock.ts'
import { publishedVoices } from '../../src/engine/models/roles.ts'
import { findCommand } from '../support/command.ts'
import { pocket, unless } from '../support/engine-room.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { modelFiles } from '../support/model-files.ts'
import { byRoot, foreignFolder, notGiven } from '../support/other-owner.ts'
import { steno } from '../support/program.ts'

const voiceModels = Object.values(publishedVoices)
let folder: string
let hub: TestHub

beforeEach(() => {
  folder = temporaryFolder()
  const voices = { 'onnx/model.onnx': new Uint8Array(700), 'onnx/model_fp16.onnx': new Uint8Array(9) }
  const others = Object.fromEntries(voiceModels.map(id => [models[id].repository, voices]))
  hub = startHub(models.tiny.repository, modelFiles(''), { others })
})

afterEach(async () => {
  await hub.stop()
})

const environment = () => ({ STENO_MODELS_DIR: folder, HF_ENDPOINT: hub.endpoint, STENO_DEVICE: 'cpu' })

/** Runs a `models` command inside the test process, with environment variables that are removed afterwards. */
async function run(...args: string[]) {
  return await runWith(environment(), ...args)
}

async function runWith(variables: Record<string, string>, ...args: string[]) {
  const before = { ...process.env }
  Object.assign(process.env, variables)
  try {
    return await findCommand(temporaryFolder(), 'models', ...args)
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name]
    Object.assign(process.env, before)
  }
}

test('a model is pulled, listed, verified and removed', async () => {
  expect(await run('pull', 'tiny')).toMatchObject({
    code: 0,
    out: expect.stringContaining('tiny: 5 files, 7.9 KB'),
  })
  const listed = JSON.parse((await run('list', '--json')).out)
  expect(listed.find(({ id }: { id: string }) => id === 'tiny').bytes).toBeGreaterThan(8000)
  expect((await run('verify')).out).toStartWith('tiny: good\n')

  await Bun.write(join(folder, 'tiny', 'tokenizer.json'), '[]')
  const broken = await run('verify', 'tiny')
  expect(broken).toMatchObject({ code: 1, out: 'tiny: not as published: tokenizer.json\n' })

  expect(await run('verify', 'base')).toMatchObject({ code: 0, out: 'base: built in\n' })
  expect(await run('verify', 'small')).toMatchObject({
    code: 1,
    err: 'steno: small is not here; steno models list shows what is\n',
  })

  expect((await run('remove', 'tiny')).out).toBe('tiny removed\n')
  expect(await run('remove', 'tiny')).toMatchObject({ code: 1, err: 'steno: there is no model tiny here\n' })
  expect(await run('remove', 'base')).toMatchObject({
    code: 1,
    err: 'steno: base is built in and cannot be removed\n',
  })
})

test('the columns of the list have headings, and each row is aligned with them', async () => {
  const [heading = '', ...rows] = (await run('list')).out.trimEnd().split('\n')
  expect(heading).toMatch(/^model +parameters +on disk$/)
  const starts = [heading.indexOf('parameters'), heading.indexOf('on disk')]
  for (const row of rows)
    expect([row, ...starts.map(at => row.slice(at - 1, at + 1))]).toEqual([
      row,
      expect.stringMatching(/^ \S/),
      expect.stringMatching(/^ \S/),
    ])
})

test('a model that lacks a file, or whose list of files is cut, fails the check; a pull repairs it', async () => {
  await run('pull', 'tiny')
  rmSync(join(folder, 'tiny', 'onnx/decoder_model_merged.onnx'))
  const voice = publishedVoices.embedding
  writeFileSync(join(folder, voice, lockName), '{"id": "')
  const broken = await run('verify')
  expect(broken.code).toBe(1)
  expect(broken.out).toContain('tiny: not as published: onnx/decoder_model_merged.onnx\n')
  expect(broken.out).toContain(`${voice}: not as published: ${lockName}\n`)
  for (const id of ['tiny', voice]) await run('pull', id)
  const repaired = await run('verify')
  expect([repaired.code, repaired.out.split('\n').filter(line => line.endsWith(': good')).length]).toEqual([
    0, 3,
  ])
})

test('verify refuses what is no model, and names the fault of a model that was installed by hand', async () => {
  mkdirSync(join(folder, 'junk'))
  for (const name of ['junk', '.', '../media', 'smal'])
    expect(await run('verify', name)).toMatchObject({
      code: 1,
      out: '',
      err: `steno: there is no model ${name}; steno models list shows all\n`,
    })
  const voice = publishedVoices.embedding
  await run('pull', 'tiny')
  for (const id of ['tiny', voice]) rmSync(join(folder, id, lockName))
  const good = await run('verify')
  expect([good.code, good.out]).toEqual([
    0,
    expect.stringContaining('tiny: installed by hand, without hashes to check\n'),
  ])
  writeFileSync(join(folder, 'tiny/config.json'), '{')
  writeFileSync(join(folder, 'small'), '')
  rmSync(join(folder, voice, 'onnx/model.onnx'))
  const broken = await run('verify')
  expect(broken).toMatchObject({
    code: 1,
    err: 'steno: some models cannot be used as they are: remove them and pull them again\n',
  })
  expect(broken.out).toContain(`tiny: ${folder}/tiny/config.json is not JSON, or not an object\n`)
  expect(broken.out).toContain(`small: ${folder}/small/config.json is missing\n`)
  expect(broken.out).toContain(`${voice}: a file of the model is missing\n`)
  expect((await run('remove', 'small')).code).toBe(0)
})

test.skipIf(!pocket)(
  `a pull makes the compact form, which is listed and removed with the model${unless(pocket, 'pocket model')}`,
  async () => {
    const published = temporaryFolder()
    const size = { width: 64, heads: 1, layers: 1, vocabulary: 5000 }
    await writeRandomModel(published, pocket ?? '', size, false)
    const paths = [...new Bun.Glob('**/*').scanSync(published)]
    const files = await Promise.all(
      paths.map(async path => [path, await Bun.file(join(published, path)).bytes()]),
    )
    const own = startHub(models.tiny.repository, Object.fromEntries(files))
    const pulled = await runWith({ ...environment(), HF_ENDPOINT: own.endpoint }, 'pull', 'tiny')
    await own.stop()
    expect(pulled.out).toContain('tiny: its compact form for the CPU is here\n')
    expect(readdirSync(folder)).toContain('tiny.compact')
    expect((await run('list')).out).toMatch(/^tiny .*, compact /m)
    expect((await run('verify', 'tiny')).out).toBe('tiny: good\n')
    await run('remove', 'tiny')
    expect(readdirSync(folder)).not.toContain('tiny.compact')
  },
)

test('a pull asks the hub that the settings of the installed service name', async () => {
  const file = join(folder, 'steno.env')
  await Bun.write(file, `STENO_MODELS_DIR=${folder}\nHF_ENDPOINT=${hub.endpoint}\n`)
  const pulled = await steno(['models', 'pull', 'tiny'], { STENO_ENV_FILE: file, STENO_DEVICE: 'cpu' })
  expect(pulled).toMatchObject({ code: 0, err: '' })
  expect(hub.asked.length).toBeGreaterThan(0)
})

byRoot('a model that root pulls belongs to the owner of the folder of models', async () => {
  folder = foreignFolder()
  expect((await run('pull', 'tiny')).code).toBe(0)
  expect(notGiven(folder)).toEqual([])
})

test('the voice models are downloaded with the first model, once', async () => {
  const { out } = await run('pull', 'tiny')
  expect(out.split('\n').map(line => line.split(',')[0])).toEqual([
    'tiny: 5 files',
    ...voiceModels.map(id => `${id}: 1 file`),
    '',
  ])
  expect((await run('pull', 'tiny')).out.split('\n').length).toBe(2)
  expect((await run('pull', publishedVoices.embedding)).out).toStartWith(
    `${publishedVoices.embedding}: 1 file,`,
  )
  expect((await run('verify')).out.split('\n').filter(line => line.endsWith(': good')).length).toBe(3)
})

test('an unknown model is an error of one line, with the nearest name', async () => {
  const { code, err } = await run('pull', 'smalll')
  expect([code, err]).toEqual([1, 'steno: there is no model smalll to pull; the nearest one is small\n'])
})

test('a folder that cannot be written is named, with what to do', async () => {
  folder = join(folder, 'file')
  writeFileSync(folder, '')
  const words = (cause: string) =>
    `steno: the folder of models ${folder} cannot be written: ${cause}; STENO_MODELS_DIR names another\n`
  expect(await run('pull', 'tiny')).toMatchObject({ code: 1, err: words('a file has this name') })
  expect(await run('remove', 'tiny')).toMatchObject({ code: 1, err: words('a part of the path is a file') })
})

test('a hub that cannot be reached is named, with what to do', async () => {
  const { code, err } = await runWith({ ...environment(), HF_ENDPOINT: 'http://127.0.0.1:1' }, 'pull', 'tiny')
  expect(code).toBe(1)
  expect(err).toMatch(
    /^steno: http:\S+ cannot be reached \(.*\); HF_ENDPOINT names a mirror, or copy the folder [^\n]+\n$/,
  )
})

test('offline nothing is fetched, and one line says what to do', async () => {
  const { code, err } = await runWith({ ...environment(), STENO_OFFLINE: '1' }, 'pull', 'tiny')
  expect(code).toBe(1)
  expect(err).toMatch(
    /^steno: STENO_OFFLINE forbids fetching tiny: run steno models pull tiny where [^\n]+\n$/,
  )
  expect(hub.asked).toEqual([])
})
