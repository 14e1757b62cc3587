// Installs ONNX Runtime's CUDA provider from a NuGet package. ONNX Runtime's library is copied into the same folder,
// because it searches for the provider only in its own folder.

import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import runtimePackage from '../../../node_modules/onnxruntime-node/package.json'
import { inheritOwner } from '../../base/inherit-owner.ts'
import { Draft } from '../../base/whole-file.ts'
import { extract } from '../../base/zip.ts'
import { listZip } from '../../base/zip-list.ts'
import { findPackage, openPackage } from '../../net/nuget.ts'
import { carriedRuntime, cudaProvider, newCudaFolder } from '../onnx/library.ts'
import { fetchFile, sizeOf } from './fetch-file.ts'
import { waitForLock } from './wait-for-lock.ts'

const packageId = 'Microsoft.ML.OnnxRuntime.Gpu.Linux'
const version = runtimePackage.version
export const libraries = [cudaProvider, 'libonnxruntime_providers_shared.so']

export type CudaDownload = {
  /** The URL of the index of a NuGet server. */
  source: string
  signal: AbortSignal
  onProgress: (bytes: number, total: number) => void
}

/**
 * Downloads the NuGet package of the CUDA provider, verifies its hash and installs it. If another process is doing the
 * same, waits until that process has ended. Returns the provider's folder.
 */
export async function pullCuda(download: CudaDownload): Promise<string> {
  const path = join(dirname(newCudaFolder()), `${packageId}.${version}.nupkg`)
  mkdirSync(dirname(path), { recursive: true })
  const release = await waitForLock(`${path}.lock`, download.signal)
  try {
    return await pullInto(path, download)
  } finally {
    rmSync(`${path}.lock`, { force: true })
    release()
  }
}

async function pullInto(path: string, { source, signal, onProgress }: CudaDownload): Promise<string> {
  const found = await findPackage(source, packageId, version, signal)
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

/**
 * Installs the CUDA provider from a NuGet package file. Throws an error if the file is another package or version, or
 * lacks a library for this machine.
 */
export async function installCuda(path: string): Promise<string> {
  const entries = listZip(path)
  const manifest = entries.find(entry => entry.name === `${packageId}.nuspec`)
  if (!manifest) throw new Error(`${path} is not the package ${packageId}`)
  const folder = newCudaFolder()
  using draft = new Draft(folder)
  mkdirSync(draft.path, { recursive: true, mode: 0o700 })
  const nuspec = join(draft.path, 'nuspec')
  await extract(path, manifest, nuspec)
  const [, found = 'unknown'] = /<version>([^<]+)<\/version>/.exec(readFileSync(nuspec, 'utf8')) ?? []
  if (found !== version) throw new Error(`${path} is of version ${found}; this program carries ${version}`)
  rmSync(nuspec)
  for (const name of libraries) {
    const packed = `runtimes/linux-${process.arch}/native/${name}`
    const entry = entries.find(entry => entry.name === packed)
    if (!entry) throw new Error(`${path} has no ${name} for linux-${process.arch}`)
    await extract(path, entry, join(draft.path, name))
  }
  const library = carriedRuntime()
  copyFileSync(library, join(draft.path, basename(library)))
  inheritOwner(dirname(folder))
  draft.replace()
  return folder
}

async function sha512Of(path: string): Promise<string> {
  const hash = createHash('sha512')
  for await (const bytes of Bun.file(path).stream()) hash.update(bytes)
  return hash.digest('hex')
}
