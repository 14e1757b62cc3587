// Tests the confinement of the engine process. The engine process must not read secrets, write to the data folder,
// connect to the server, or send signals to it.

import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { missingProtections } from '../../src/base/sandbox.ts'
import type { Config } from '../../src/config.ts'
import { readablePaths, usesGpu } from '../../src/engine/confine.ts'
import { compactFile } from '../../src/engine/network/compact.ts'
import { hasCuda } from '../../src/engine/onnx/library.ts'
import { temporaryFolder, temporaryFolderOnDisk } from '../support/folder.ts'

const isWhole = process.platform === 'linux' && missingProtections().length === 0
const uuid = 'dbc262fa-145a-4ea5-9c62-bc9d8b0446e0'
const secrets = [
  'secret.key',
  'serve.lock',
  'steno.db',
  'steno.db-wal',
  'replaced-3.db',
  'backup.db',
  'backup.db20261124',
  `backup.db.${uuid}.part`,
  'mail/a.eml',
]
const others = [
  'media/a',
  'uploads/a',
  'models/base/config.json',
  'native/a.so',
  'tiny.db041086.compact/config.json',
  `tiny.compact.${uuid}.part/config.json`,
]

function makeDataFolder(): string {
  const folder = join(temporaryFolderOnDisk(), 'data')
  for (const name of [...secrets, ...others]) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), 'bytes')
  }
  return folder
}

test('the engine can read the media, the models and the libraries in the data folder, but not its secrets', () => {
  const folder = makeDataFolder()
  const paths = readablePaths(folder)
  for (const name of others) expect(paths.some(path => join(folder, name).startsWith(path))).toBe(true)
  for (const name of secrets) expect(paths.some(path => join(folder, name).startsWith(`${path}`))).toBe(false)
  expect(paths).toContain('/usr')
})

test('an engine uses a GPU of the machine only if its model can run there', async () => {
  const [floats, compact] = [temporaryFolder(), temporaryFolder()]
  writeFileSync(join(compact, compactFile), 'weights')
  const onMachineWithGpu = (device: Config['device'], folder?: string) => usesGpu({ device, folder }, true)
  expect(onMachineWithGpu('cuda', floats)).toBe(true)
  expect(onMachineWithGpu('webgpu', floats)).toBe(true)
  expect(onMachineWithGpu('auto', floats)).toBe(hasCuda())
  expect(onMachineWithGpu('cpu', floats)).toBe(false)
  expect(onMachineWithGpu('auto', compact)).toBe(false)
  expect(onMachineWithGpu('cuda', compact)).toBe(false)
  expect(onMachineWithGpu('cpu')).toBe(false)
  expect(usesGpu({ device: 'cuda', folder: floats }, false)).toBe(false)
})

test('of the plain files beside the data folder, the engine can read only those that it needs', () => {
  const folder = makeDataFolder()
  const above = dirname(folder)
  mkdirSync(join(above, 'recordings'))
  for (const name of ['config.json', 'steno-media', 'talk.wav']) writeFileSync(join(above, name), 'bytes')
  writeFileSync(join(folder, 'talk.wav'), 'bytes')
  const plainFiles = (needed: string[]) =>
    readablePaths(folder, needed)
      .filter(path => path.startsWith(above) && statSync(path).isFile())
      .map(path => relative(above, path))
      .sort()
  expect(plainFiles([])).toEqual([])
  expect(plainFiles([join(above, 'steno-media'), '/no/such'])).toEqual(['steno-media'])
  // Here the folder `above` is the model folder, and the data folder is inside it. The engine can then read the files
  // that are directly in the model folder, but not those that are directly in the data folder.
  expect(plainFiles([above])).toEqual(['config.json', 'steno-media', 'talk.wav'])
  expect(readablePaths(folder)).toContain(join(above, 'recordings'))
  // The files of a model folder may be links, also those of its folder onnx.
  const linked = join(above, 'linked')
  mkdirSync(join(linked, 'onnx'), { recursive: true })
  symlinkSync('../config.json', join(linked, 'config.json'))
  symlinkSync(join(above, 'talk.wav'), join(linked, 'onnx', 'encoder_model.onnx'))
  symlinkSync(join(folder, 'secret.key'), join(linked, 'tokenizer.json'))
  symlinkSync('nowhere', join(linked, 'gone'))
  // A link to a folder does not make the files in this folder readable.
  symlinkSync('..', join(linked, 'up'))
  expect(plainFiles([linked])).toEqual(['config.json', 'talk.wav'])
})

test.skipIf(!isWhole)('an engine reads media and models, and neither secrets nor the server', async () => {
  const folder = makeDataFolder()
  using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const child = Bun.spawn(
    [
      process.execPath,
      '-e',
      `import { spawnSync } from 'node:child_process'
       import * as fs from 'node:fs'
       import { connect } from 'node:net'
       import { confineEngine } from ${JSON.stringify(join(import.meta.dir, '../../src/engine/confine.ts'))}
       import { systemCall } from ${JSON.stringify(join(import.meta.dir, '../../src/base/system-call.ts'))}
       const [folder, server, port] = process.argv.slice(-3)
       confineEngine({ dataDir: folder, device: 'cpu' })
       const outcomes = {}
       const attempt = (name, work) => {
         try { work(); outcomes[name] = true } catch { outcomes[name] = false }
       }
       for (const name of ${JSON.stringify([...secrets, ...others])})
         attempt('read ' + name, () => fs.readFileSync(folder + '/' + name))
       attempt('read the environment of the server', () => fs.readFileSync('/proc/' + server + '/environ'))
       attempt('open memory', () => fs.closeSync(fs.openSync('/proc/' + server + '/mem', 'r')))
       attempt('signal the server', () => process.kill(Number(server), 0))
       attempt('write', () => fs.writeFileSync(folder + '/media/a', 'x'))
       attempt('create', () => fs.writeFileSync(folder + '/new', 'x'))
       attempt('remove', () => fs.unlinkSync(folder + '/media/a'))
       attempt('rename', () => fs.renameSync(folder + '/steno.db', folder + '/gone'))
       const started = spawnSync(process.execPath, ['-e', 'process.exit(7)'], { stdio: 'ignore' })
       outcomes['start a program'] = started.status === 7
       outcomes['open a socket of the internet'] = systemCall('socket', 2, 2, 0) >= 0
       outcomes.connect = await new Promise(resolve =>
         connect(Number(port), '127.0.0.1').on('connect', () => resolve(true)).on('error', () => resolve(false)))
       console.log(JSON.stringify(outcomes))`,
      folder,
      `${process.pid}`,
      `${server.port}`,
    ],
    { stdout: 'pipe', stderr: 'inherit' },
  )
  const read = (names: string[], may: boolean) => Object.fromEntries(names.map(name => [`read ${name}`, may]))
  expect(JSON.parse(await child.stdout.text())).toEqual({
    ...read(secrets, false),
    ...read(others, true),
    'read the environment of the server': false,
    'open memory': false,
    'signal the server': false,
    write: false,
    create: false,
    remove: false,
    rename: false,
    'start a program': true,
    'open a socket of the internet': false,
    connect: false,
  })
  expect(readFileSync(join(folder, 'media/a'), 'utf8')).toBe('bytes')
  expect(readdirSync(folder)).not.toContain('new')
})
