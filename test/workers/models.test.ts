// Tests the place from which a worker downloads its model: the model store of its server, or the hub (Hugging Face).

import { afterAll, expect } from 'bun:test'
import { join } from 'node:path'
import { models } from '../../src/engine/models/catalogue.ts'
import { prepareModel } from '../../src/engine/models/choose.ts'
import type { OpenMirror } from '../../src/engine/models/download.ts'
import { publishedVoices } from '../../src/engine/models/roles.ts'
import { modelsDir } from '../../src/engine/models/store.ts'
import { modelTokenFor } from '../../src/workers/addresses.ts'
import { defaults } from '../support/defaults.ts'
import { startFleet } from '../support/fleet.ts'
import { temporaryFolder } from '../support/folder.ts'
import { commit, startHub, type TestHub } from '../support/hub.ts'
import { modelFiles } from '../support/model-files.ts'
import { natsTest, sharedNats } from '../support/nats.ts'

const nats = sharedNats()
const { repository } = models.tiny
const files = modelFiles('')
const weights = 'onnx/encoder_model.onnx'
const voice = { 'onnx/model.onnx': new Uint8Array(9) }
const voices = Object.fromEntries(Object.values(publishedVoices).map(id => [models[id].repository, voice]))

const endpoint = process.env.HF_ENDPOINT
afterAll(() => {
  if (endpoint === undefined) delete process.env.HF_ENDPOINT
  else process.env.HF_ENDPOINT = endpoint
})

natsTest('a worker gets its model from the server, and sends no request to the hub', async () => {
  const { hub, openMirror } = await startCluster({ hasModel: true })
  const requests = hub.asked.length
  const dir = temporaryFolder()
  const chosen = await prepare({ dir, offline: true, openMirror })
  expect(chosen).toMatchObject({ name: 'tiny', folder: join(dir, 'tiny') })
  expect('problem' in chosen.voices).toBe(false)
  for (const [path, bytes] of Object.entries(files))
    expect(await isFile(join(dir, 'tiny', path), bytes)).toBe(true)
  expect(hub.asked.length).toBe(requests)
})

natsTest(
  'a worker gets a model that the server does not have from the hub, unless the worker is offline',
  async () => {
    const { hub, openMirror } = await startCluster({ hasModel: false })
    await expect(prepare({ dir: temporaryFolder(), offline: true, openMirror })).rejects.toThrow(
      'STENO_OFFLINE forbids',
    )
    expect(hub.asked).toEqual([])
    expect(await prepare({ dir: temporaryFolder(), offline: false, openMirror })).toMatchObject({
      name: 'tiny',
    })
    expect(hub.asked.length).toBeGreaterThan(0)
  },
)

natsTest('a model file that is damaged on the server is not used, and comes from the hub', async () => {
  const { hub, openMirror, service } = await startCluster({ hasModel: true })
  await Bun.write(join(modelsDir(service.config), 'tiny', weights), new Uint8Array(3000).fill(1))
  const requests = hub.asked.length
  const dir = temporaryFolder()
  await prepare({ dir, offline: false, openMirror })
  expect(await isFile(join(dir, 'tiny', weights), files[weights])).toBe(true)
  expect(hub.asked.length).toBeGreaterThan(requests)
})

natsTest('only a valid token gives access, and only to the files of downloaded models', async () => {
  const { service } = await startCluster({ hasModel: true })
  const now = service.db.now()
  const token = modelTokenFor(service.secrets, now)
  const get = async (path: string, authorization: string | null = `Bearer ${token}`, range?: string) => {
    const headers = { ...(authorization ? { authorization } : {}), ...(range ? { range } : {}) }
    return (await fetch(`${service.url}/v1/workers/models/${path}`, { headers })).status
  }
  const fileOf = (path: string, revision = commit) => `${repository}/resolve/${revision}/${path}`
  expect(await get(fileOf(weights))).toBe(200)
  expect(await get(fileOf(weights), undefined, 'bytes=100-')).toBe(206)
  const refused = [
    null,
    'Bearer ',
    `Bearer ${token}0`,
    `Bearer 99999999999999.${token.split('.')[1]}`,
    `Bearer ${modelTokenFor(service.secrets, now - 16 * 60_000)}`,
    `Bearer ${service.account('ana').key}`,
  ]
  for (const authorization of refused) {
    expect(await get(fileOf(weights), authorization)).toBe(403)
    expect(await get(`api/models/${repository}/tree/${commit}`, authorization)).toBe(403)
  }
  const missing = [
    fileOf('steno-lock.json'),
    fileOf('../../steno.db'),
    fileOf('..%2f..%2fsecret.key'),
    fileOf(weights, 'main'),
    `api/models/${models.small.repository}/revision/main`,
    'api/models/no/such/revision/main',
  ]
  for (const path of missing) expect([path, await get(path)]).toEqual([path, 404])
})

/** Starts a model hub, a server and a worker. If `hasModel` is true, the server has the model. */
async function startCluster({ hasModel }: { hasModel: boolean }) {
  const hub: TestHub = startHub(repository, files, { others: voices })
  afterAll(() => hub.stop())
  process.env.HF_ENDPOINT = hub.endpoint
  const dir = temporaryFolder()
  if (hasModel) await prepare({ dir, offline: false, openMirror: null })
  const { service, startOwn } = await startFleet(nats.url, { STENO_MODELS_DIR: dir })
  const { worker } = await startOwn()
  return {
    hub,
    service: { ...service, config: { modelsDir: dir, dataDir: dir } },
    openMirror: () => worker.modelHub(),
  }
}

async function isFile(path: string, bytes: Uint8Array | undefined): Promise<boolean> {
  return bytes !== undefined && Buffer.from(await Bun.file(path).bytes()).equals(bytes)
}

type Wanted = { dir: string; offline: boolean; openMirror: OpenMirror | null }

function prepare({ dir, offline, openMirror }: Wanted) {
  const settings = { ...defaults, model: 'tiny', modelsDir: dir, device: 'cpu' as const, offline }
  return prepareModel(settings, () => {}, openMirror)
}
