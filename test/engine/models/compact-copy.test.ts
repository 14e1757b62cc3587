// Tests compact copies: model folders with 8-bit weights that steno makes from other model folders. The tests use small
// models with random weights.

import { beforeAll, expect, spyOn, test } from 'bun:test'
import { cpSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, utimesSync } from 'node:fs'
import { basename, join } from 'node:path'
import { writeRandomModel } from '../../../scripts/bench/support/random-model.ts'
import { draftPath } from '../../../src/base/draft-names.ts'
import { log } from '../../../src/base/log.ts'
import { openModel } from '../../../src/engine/load.ts'
import { withCompactCopy } from '../../../src/engine/models/compact-copy.ts'
import { compactFolderOf, jsonFiles } from '../../../src/engine/models/layout.ts'
import { listModels } from '../../../src/engine/models/listing.ts'
import { lockName } from '../../../src/engine/models/lock.ts'
import { removeModel } from '../../../src/engine/models/remove.ts'
import { verifyModel } from '../../../src/engine/models/verify.ts'
import { compactFile, writeCompact } from '../../../src/engine/network/compact.ts'
import { openSource } from '../../../src/engine/network/source.ts'
import { firstOf, pocket, unless } from '../../support/engine-room.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { byRoot, foreignFolder, notGiven } from '../../support/other-owner.ts'

const size = { width: 64, heads: 1, layers: 1, vocabulary: 1000 }
const template = temporaryFolder()

beforeAll(async () => {
  if (pocket) await writeRandomModel(template, pocket, size, false)
})

/** Copies the float model into a new models folder under the given name. */
function install(name = 'tiny') {
  const dir = temporaryFolder()
  const folder = join(dir, name)
  cpSync(template, folder, { recursive: true })
  const messages: string[] = []
  const copy = () =>
    withCompactCopy({ name, folder }, { modelsDir: dir, dataDir: dir }, text => messages.push(text))
  return { dir, folder, messages, copy }
}

const onnxFile = join('onnx', 'encoder_model.onnx')
const sameBytes = async (one: string, other: string) =>
  Buffer.from(await Bun.file(one).bytes()).equals(await Bun.file(other).bytes())

test.skipIf(!pocket)(
  `the copy has the bytes of the compact form, loads as compact, and is made once; an old draft is removed${unless(pocket, 'pocket model')}`,
  async () => {
    const { dir, folder, messages, copy } = install()
    const left = draftPath(compactFolderOf(folder, dir))
    mkdirSync(left)
    utimesSync(left, new Date(0), new Date(0))
    const made = await copy()
    expect(made).toEqual({ name: 'tiny', folder: compactFolderOf(folder, dir) })
    const expected = join(temporaryFolder(), compactFile)
    await writeCompact(openSource(folder), expected)
    expect(await sameBytes(join(made.folder, compactFile), expected)).toBe(true)
    const { inode } = identityOf(made.folder)
    expect((await copy()).folder).toBe(made.folder)
    expect(identityOf(made.folder).inode).toBe(inode)
    expect(messages).toEqual(['The compact form of tiny is being made.'])
    expect(readdirSync(dir).toSorted()).toEqual(['tiny', basename(made.folder)].toSorted())
    const { models, facts } = await openModel({
      ...made,
      others: [],
      detector: null,
      voices: { problem: 'none' },
      device: 'cpu',
      threads: 2,
    })
    for (const model of models.speech) model.close()
    expect(facts.variant).toBe('compact')
  },
)

function identityOf(folder: string): { inode: number } {
  return { inode: statSync(join(folder, compactFile)).ino }
}

test.skipIf(!pocket)(
  `a copy is made again when the model has changed, and when the copy is damaged${unless(pocket, 'pocket model')}`,
  async () => {
    const { folder, messages, copy } = install()
    const made = await copy()
    utimesSync(join(folder, onnxFile), new Date(0), new Date(0))
    await copy()
    truncateSync(join(made.folder, compactFile), 1000)
    await copy()
    expect(messages).toHaveLength(3)
    await copy()
    expect(messages).toHaveLength(3)
    await Bun.write(join(folder, 'model.safetensors'), 'damaged')
    expect((await copy()).folder).toBe(folder)
    expect(messages).toHaveLength(4)
  },
)

test.skipIf(!pocket)(
  `a copy is made again when a pull has brought files of the same size${unless(pocket, 'pocket model')}`,
  async () => {
    const { folder, messages, copy } = install()
    const lockOf = (value: string) =>
      Bun.write(
        join(folder, lockName),
        JSON.stringify({ files: [{ path: onnxFile, size: 1, hash: { kind: 'git', value } }] }),
      )
    await lockOf('a')
    const made = await copy()
    const { inode } = identityOf(made.folder)
    utimesSync(join(folder, onnxFile), new Date(0), new Date(0))
    await copy()
    expect([messages.length, identityOf(made.folder).inode]).toEqual([1, inode])
    await lockOf('b')
    await copy()
    expect(messages).toHaveLength(2)
  },
)

test.skipIf(!pocket)(
  `a folder with the name of a built-in model gets a copy, and the built-in model gets none${unless(pocket, 'pocket model')}`,
  async () => {
    const { folder, copy } = install('base')
    expect((await copy()).folder).toBe(`${folder}.compact`)
    const builtInPocket = { name: 'pocket', folder: pocket! }
    const dir = temporaryFolder()
    const settings = { modelsDir: dir, dataDir: dir }
    expect(await withCompactCopy(builtInPocket, settings, () => {})).toBe(builtInPocket)
  },
)

test.skipIf(!pocket)(
  `a model whose copy cannot be made is used as it is${unless(pocket, 'pocket model')}`,
  async () => {
    using logged = spyOn(log, 'warn').mockImplementation(() => {})
    const { dir, folder, copy } = install()
    await Bun.write(join(folder, onnxFile), new Uint8Array(3000))
    expect(await copy()).toEqual({ name: 'tiny', folder })
    const reason = 'the model has no encoder.conv1.weight'
    expect(logged.mock.calls).toEqual([['compact form not made', { model: 'tiny', reason }]])
    expect(readdirSync(dir)).toEqual(['tiny'])
    const fresh = install()
    const settings = { modelsDir: join(fresh.folder, 'config.json'), dataDir: fresh.dir }
    const model = { name: 'mine', folder: fresh.folder }
    expect(await withCompactCopy(model, settings, () => {})).toEqual(model)
  },
)

test.skipIf(!pocket)(
  `a model with attention heads of another size gets no copy, which could not be loaded${unless(pocket, 'pocket model')}`,
  async () => {
    const { folder, messages, copy } = install()
    const path = join(folder, 'config.json')
    const config = await Bun.file(path).json()
    for (const name of ['encoder_attention_heads', 'decoder_attention_heads']) {
      await Bun.write(path, JSON.stringify({ ...config, [name]: 2 }))
      expect([(await copy()).folder, messages]).toEqual([folder, []])
    }
  },
)

test.skipIf(!pocket)(
  `the copy is listed and verified with its model, and removed with it${unless(pocket, 'pocket model')}`,
  async () => {
    const { dir, folder, copy } = install()
    const listed = () => listModels(() => dir).find(({ id }) => id === 'tiny')
    await Bun.write(join(folder, 'steno-lock.json'), JSON.stringify({ files: [] }))
    const before = listed()
    expect(before?.form).toBe('float')
    const made = await copy()
    expect(listed()?.form).toBe('compact')
    expect(listed()?.bytes).toBeGreaterThan(
      (before?.bytes ?? 0) + statSync(join(made.folder, compactFile)).size,
    )
    expect(await verifyModel(dir, 'tiny')).toEqual([])
    await Bun.write(join(made.folder, compactFile), 'changed')
    expect(await verifyModel(dir, 'tiny')).toEqual([compactFile])
    rmSync(folder, { recursive: true })
    expect(listed()).toMatchObject({ bytes: null, form: null })
    expect(removeModel(dir, 'tiny')).toBe(true)
    expect(readdirSync(dir)).toEqual([])
  },
)

test('a model folder with weights in the compact form is listed as compact', async () => {
  const dir = temporaryFolder()
  for (const name of [...jsonFiles, compactFile]) await Bun.write(join(dir, 'tiny', name), '{}')
  expect(listModels(() => dir).find(({ id }) => id === 'tiny')?.form).toBe('compact')
})

const published = process.env.STENO_BENCH_PUBLISHED ?? null
const builtIn = firstOf(`models/whisper-base/${compactFile}`)

test.skipIf(!published || !builtIn)(
  `the copy of Whisper base is the built-in model${unless(published, 'STENO_BENCH_PUBLISHED with the float files of base')}`,
  async () => {
    const dir = temporaryFolder()
    const { folder } = await withCompactCopy(
      { name: 'base-float', folder: published ?? '' },
      { modelsDir: dir, dataDir: dir },
      () => {},
    )
    expect(await sameBytes(join(folder, compactFile), builtIn ?? '')).toBe(true)
  },
  120_000,
)

byRoot('a copy that root makes belongs to the owner of the folder of models', async () => {
  if (!pocket) return
  const dir = foreignFolder()
  const { folder } = await withCompactCopy(
    { name: 'tiny', folder: template },
    { modelsDir: dir, dataDir: dir },
    () => {},
  )
  expect(folder).toStartWith(dir)
  expect(notGiven(dir)).toEqual([])
})
