// ONNX Runtime's CUDA provider: fetched from its NuGet package for exactly the version that is carried, put beside a
// copy of the library, and looked over for what it needs of the machine.

import { dlopen, ptr } from 'bun:ffi'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import runtimePackage from '../../../node_modules/onnxruntime-node/package.json'
import { neededLibraries } from '../../base/elf.ts'
import { Draft } from '../../base/whole-file.ts'
import { extract, listZip } from '../../base/zip.ts'
import { findPackage, openPackage } from '../../net/nuget.ts'
import { carriedRuntime, cudaFolder, cudaProvider } from '../onnx/library.ts'
import { fetchFile, sizeOf } from './fetch-file.ts'

const packageId = 'Microsoft.ML.OnnxRuntime.Gpu.Linux'
const version = runtimePackage.version
const wanted = [cudaProvider, 'libonnxruntime_providers_shared.so']

export type CudaPull = {
  /** The index of a NuGet source. */
  source: string
  signal: AbortSignal
  onProgress: (bytes: number, total: number) => void
}

/** Fetches the package, checks it against the source's hash, and installs it. Gives the folder. */
export async function pullCuda({ source, signal, onProgress }: CudaPull): Promise<string> {
  const found = await findPackage(source, packageId, version, signal)
  const path = join(dirname(cudaFolder()), `${packageId}.${version}.nupkg`)
  const isGood = async (file: string) =>
    (await sha512Of(file)) === found.sha512 && sizeOf(file) === found.size
  const open = (from: number) => openPackage(found, from, signal)
  await fetchFile(path, { name: basename(path), size: found.size, open, isGood, signal }, bytes =>
    onProgress(bytes, found.size),
  )
  try {
    return await installCuda(path)
  } finally {
    rmSync(path, { force: true })
  }
}

/** Takes the provider out of a package on disk, which must be that of the carried version. */
export async function installCuda(path: string): Promise<string> {
  if (!existsSync(path)) throw new Error(`there is no file ${path}`)
  const entries = listZip(path)
  const about = entries.find(each => each.name === `${packageId}.nuspec`)
  if (!about) throw new Error(`${path} is not the package ${packageId}`)
  const folder = cudaFolder()
  using draft = new Draft(folder)
  mkdirSync(draft.path, { recursive: true, mode: 0o700 })
  const nuspec = join(draft.path, 'nuspec')
  await extract(path, about, nuspec)
  const [, is] = /<version>([^<]+)<\/version>/.exec(readFileSync(nuspec, 'utf8')) ?? []
  if (is !== version)
    throw new Error(`${path} is of version ${is ?? 'unknown'}; this program carries ${version}`)
  rmSync(nuspec)
  for (const name of wanted) {
    const entry = entries.find(each => each.name === `runtimes/linux-${process.arch}/native/${name}`)
    if (!entry) throw new Error(`${path} has no ${name} for linux-${process.arch}`)
    await extract(path, entry, join(draft.path, name))
  }
  const library = carriedRuntime()
  copyFileSync(library, join(draft.path, basename(library)))
  draft.replace()
  return folder
}

/** Libraries that the provider asks for and the machine's loader does not find. */
export function missingForCuda(): string[] {
  const own = [...wanted, basename(carriedRuntime())]
  return neededLibraries(join(cudaFolder(), cudaProvider)).filter(name => !own.includes(name) && !loads(name))
}

/** What an operator types for them: NVIDIA's packages for Debian and Ubuntu, of the generation that is asked for. */
export function installHint(missing: readonly string[]): string {
  const cudnn = missing.filter(each => each.startsWith('libcudnn'))
  const others = missing.filter(each => !each.startsWith('libcudnn') && each !== 'libcuda.so.1')
  const generation =
    /\.so\.(\d+)$/.exec(others.find(each => /^lib(cudart|cublas)/.test(each)) ?? '')?.[1] ?? '12'
  const packages = [
    ...(others.length > 0 ? [`cuda-libraries-${generation}-${generation === '12' ? '9' : '0'}`] : []),
    ...(cudnn.length > 0 ? [`libcudnn${/\.so\.(\d+)$/.exec(cudnn[0]!)?.[1] ?? ''}-cuda-${generation}`] : []),
  ]
  const driver = missing.includes('libcuda.so.1') ? 'the NVIDIA driver' : ''
  const command =
    packages.length > 0 ? `apt-get install ${packages.join(' ')} (from NVIDIA's repository)` : ''
  return [driver, command].filter(each => each !== '').join(' and ')
}

function loads(name: string): boolean {
  const { symbols } = dlopen('libc.so.6', { dlopen: { args: ['ptr', 'i32'], returns: 'ptr' } })
  const lazily = 1
  return symbols.dlopen(ptr(Buffer.from(`${name}\0`)), lazily) !== null
}

async function sha512Of(path: string): Promise<string> {
  const hash = createHash('sha512')
  for await (const bytes of Bun.file(path).stream()) hash.update(bytes)
  return hash.digest('hex')
}
