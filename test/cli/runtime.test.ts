import { beforeEach, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nativeEnvironment } from '../../src/base/carried.ts'
import { neededLibraries } from '../../src/base/elf.ts'
import { pullCuda } from '../../src/engine/models/cuda.ts'
import { installHint } from '../../src/engine/models/cuda-libraries.ts'
import { carriedRuntime, cudaFolder, hasCuda } from '../../src/engine/onnx/library.ts'
import { findCommand } from '../support/command.ts'
import { id, packageOf, provider, version } from '../support/cuda-package.ts'
import { inEnvironment } from '../support/environment.ts'
import { temporaryFolder } from '../support/folder.ts'
import { byRoot, foreignFolder, notGiven } from '../support/other-owner.ts'
import { makeZip } from '../support/zip.ts'

const whole = packageOf()

let folder: string
beforeEach(() => {
  folder = temporaryFolder()
})

const run = (...args: string[]) => findCommand(folder, 'runtime', 'pull', 'cuda', ...args)
const place = () => join(folder, 'native', `cuda-${version}`)

/**
 * Starts a server with the NuGet protocol. Element n of `breaks` is the number of bytes after which transfer n ends.
 * The server announces `sha512` instead of the right hash, unless `sha512` is empty.
 */
function startSource({ breaks = [] as number[], sha512 = '' } = {}) {
  const ranges: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname, origin } = new URL(request.url)
      const lower = id.toLowerCase()
      if (pathname === '/index.json') {
        const resources = ['PackageBaseAddress/3.0.0', 'RegistrationsBaseUrl/3.6.0'].map(type => ({
          '@id': `${origin}/${type.split('/')[0]}`,
          '@type': type,
        }))
        return Response.json({ version: '3.0.0', resources })
      }
      if (pathname === `/RegistrationsBaseUrl/${lower}/${version}.json`)
        return Response.json({ catalogEntry: `${origin}/entry.json` })
      if (pathname === '/entry.json') {
        const packageHash = sha512 || createHash('sha512').update(whole).digest('base64')
        return Response.json({ packageHash, packageHashAlgorithm: 'SHA512', packageSize: whole.length })
      }
      if (pathname !== `/PackageBaseAddress/${lower}/${version}/${lower}.${version}.nupkg`)
        return new Response(null, { status: 404 })
      const range = request.headers.get('range')
      ranges.push(range ?? 'all')
      const from = Number(range?.match(/\d+/)?.[0] ?? 0)
      const rest = whole.subarray(from, breaks.length > 0 ? from + breaks.shift()! : undefined)
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(rest)
          controller.close()
        },
      })
      return new Response(body, { status: from > 0 ? 206 : 200 })
    },
  })
  return {
    source: `http://127.0.0.1:${server.port}/index.json`,
    ranges,
    [Symbol.dispose]: () => server.stop(true),
  }
}

test('the provider is downloaded, verified and installed beside the library, and missing libraries are named', async () => {
  using served = startSource({ breaks: [1000, 50_000] })
  const { code, out } = await run('--source', served.source)
  expect([code, served.ranges]).toEqual([0, ['all', 'bytes=1000-', 'bytes=51000-']])
  expect(readdirSync(place()).toSorted()).toEqual([
    'libonnxruntime.so.1',
    'libonnxruntime_providers_cuda.so',
    'libonnxruntime_providers_shared.so',
  ])
  expect(readdirSync(join(folder, 'native'))).toEqual([`cuda-${version}`])
  expect(readFileSync(join(place(), 'libonnxruntime_providers_cuda.so')).equals(provider)).toBe(true)
  // The message must also name cuDNN. The library of the CUDA provider does not list cuDNN as a needed library, because
  // ONNX Runtime opens it later.
  expect(out).toContain(
    'lacks libcudart.so.13, libcudnn.so.9: apt-get install cuda-libraries-13-0 libcudnn9-cuda-13',
  )
})

test('two downloads of the provider at the same time both install it', () =>
  inEnvironment({ STENO_NATIVE_DIR: join(folder, 'native') }, async () => {
    using served = startSource({ breaks: [1000] })
    const { signal } = new AbortController()
    const pull = () => pullCuda({ source: served.source, signal, onProgress: () => {} })
    expect(await Promise.all([pull(), pull()])).toEqual([place(), place()])
    expect(readdirSync(join(folder, 'native'))).toEqual([`cuda-${version}`])
  }))

test('the package can be installed from a file', async () => {
  const path = join(folder, 'package.nupkg')
  writeFileSync(path, whole)
  expect((await run('--from', path)).code).toBe(0)
  expect(readdirSync(place()).length).toBe(3)
})

test('the message on a folder of the provider that cannot be written names it, and the setting for another one', async () => {
  const path = join(folder, 'package.nupkg')
  writeFileSync(path, whole)
  writeFileSync(join(folder, 'native'), 'a file where the folder should be')
  const { code, err } = await run('--from', path)
  expect([code, err]).toEqual([
    1,
    `steno: ${place()} cannot be written: a part of the path is a file; STENO_DATA_DIR names another\n`,
  ])
})

byRoot('a provider that root installs belongs to the owner of the data folder', async () => {
  const path = join(folder, 'package.nupkg')
  writeFileSync(path, whole)
  folder = foreignFolder()
  expect((await run('--from', path)).code).toBe(0)
  expect(notGiven(folder)).toEqual([])
})

test('a service finds the provider that was installed before it had a data folder', async () => {
  const path = join(folder, 'package.nupkg')
  writeFileSync(path, whole)
  const places = { STENO_CACHE_DIR: folder, STENO_NATIVE_DIR: join(folder, 'data/native') }
  await inEnvironment(places, async () => {
    expect(hasCuda()).toBe(false)
    expect(await run('--from', path)).toMatchObject({ code: 0 })
    expect([hasCuda(), cudaFolder()]).toEqual([true, place()])
    // The engine process gets STENO_CACHE_DIR and STENO_NATIVE_DIR, and no other variable whose name begins with
    // STENO_.
    expect(nativeEnvironment()).toEqual(places)
  })
})

test.each([
  ['of another version', packageOf('1.2.3'), 'is of version 1.2.3'],
  [
    'without its parts',
    makeZip({ [`${id}.nuspec`]: new TextEncoder().encode(`<version>${version}</version>`) }),
    'has no libonnx',
  ],
  ['of something else', makeZip({ 'a.txt': new Uint8Array(3) }), 'is not the package'],
  ['cut short', whole.subarray(0, whole.length / 2), 'no zip archive'],
])('a package %s changes nothing', async (_, bytes, said) => {
  const path = join(folder, 'package.nupkg')
  writeFileSync(path, bytes)
  expect(await run('--from', path)).toMatchObject({ code: 1, err: expect.stringContaining(said) })
  expect(readdirSync(folder).includes('native') ? readdirSync(join(folder, 'native')) : []).toEqual([])
})

test('a package whose hash differs from that of the source is not installed', async () => {
  using served = startSource({ sha512: createHash('sha512').update('other').digest('base64') })
  expect(await run('--source', served.source)).toMatchObject({
    code: 1,
    err: expect.stringContaining('does not have the hash'),
  })
  expect(readdirSync(join(folder, 'native'))).toEqual([])
}, 30_000)

const resources = (id: unknown) =>
  ['PackageBaseAddress/3.0.0', 'RegistrationsBaseUrl/3.6.0'].map(type => ({ '@id': id, '@type': type }))
const catalogEntry = { packageHash: 'AA==', packageHashAlgorithm: 'SHA512', packageSize: -1 }

test.each([
  ['hello', 'is no NuGet source'],
  ['null', 'is no NuGet source'],
  ['{"resources": null}', 'offers no RegistrationsBaseUrl'],
  ['{"resources": [null, {}]}', 'offers no RegistrationsBaseUrl'],
  [JSON.stringify({ resources: resources(5) }), 'offers no RegistrationsBaseUrl'],
  [JSON.stringify({ resources: resources('http://SERVER') }), `names no hash for ${id} ${version}`],
  [
    JSON.stringify({ resources: resources('http://SERVER'), catalogEntry }),
    `names no hash for ${id} ${version}`,
  ],
])(
  'a server that is no usable NuGet source, with the answer %j, is an error of one line',
  async (answer, error) => {
    using server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: request => new Response(answer.replaceAll('SERVER', new URL(request.url).host)),
    })
    const { code, err } = await run('--source', server.url.href)
    expect([code, err]).toEqual([1, expect.stringMatching(/^steno: http:[^\n]+\n$/)])
    expect(err).toStartWith(`steno: ${server.url.href} ${error}`)
  },
)

test('a missing package file, and a folder in its place, are an error of one line', async () => {
  const missing = join(folder, 'missing')
  for (const [from, problem] of [
    [missing, `there is no file ${missing}`],
    [folder, `${folder} is not a file`],
  ] as const)
    expect(await run('--from', from)).toMatchObject({ code: 1, err: `steno: ${problem}\n` })
})

test('the names of needed libraries are read from an ELF file', () => {
  const names = neededLibraries(carriedRuntime())
  expect(names).toContain('libstdc++.so.6')
  expect(names).toContain('libc.so.6')
  expect(() => neededLibraries(import.meta.path)).toThrow('no 64-bit ELF')
})

test('the hint names the packages of the matching CUDA version', () => {
  expect(installHint(['libcublasLt.so.12', 'libcudnn.so.9'])).toContain(
    'cuda-libraries-12-9 libcudnn9-cuda-12',
  )
  expect(installHint(['libcublas.so.13', 'libcudnn.so.9'])).toContain('cuda-libraries-13-0 libcudnn9-cuda-13')
  expect(installHint(['libcudnn.so.9'], ['libcudart.so.12', 'libcudnn.so.9'])).toContain(
    'install libcudnn9-cuda-12',
  )
  expect(installHint(['libcuda.so.1'])).toBe('the NVIDIA driver')
})

test('the message on a download to a full disk says that the disk is full', async () => {
  using served = startSource()
  mkdirSync(join(folder, 'native'))
  symlinkSync('/dev/full', join(folder, 'native', `${id}.${version}.nupkg.part`))
  const { err } = await run('--source', served.source)
  expect(err).toContain(`${place()} cannot be written: the disk is full; STENO_DATA_DIR names another\n`)
})
