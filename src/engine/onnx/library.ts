// Finds native libraries, the voice detection model, and the speech clip that `steno doctor` transcribes as a check.
// These files are in the project folder, or in the folder into which the built program unpacks its files.

import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import runtimePackage from '../../../node_modules/onnxruntime-node/package.json'
import { findCacheDir, findCarried, hasSameCache, nativeHome } from '../../base/carried.ts'

export const cudaProvider = 'libonnxruntime_providers_cuda.so'

/**
 * Returns the path of ONNX Runtime's shared library. If the CUDA provider is installed, this is the copy in the folder
 * of the provider.
 */
export function runtimeLibrary(): string {
  return hasCuda() ? join(cudaFolder(), basename(carriedRuntime())) : carriedRuntime()
}

/** Returns the path of ONNX Runtime's shared library for this machine, from the npm package onnxruntime-node. */
export function carriedRuntime(): string {
  const platform = `${process.platform}/${process.arch}`
  const name = process.platform === 'darwin' ? 'libonnxruntime.1.dylib' : 'libonnxruntime.so.1'
  return mustFind(`node_modules/onnxruntime-node/bin/napi-v6/${platform}/${name}`)
}

/**
 * Returns the folder of the CUDA provider, which need not exist. If the data folder did not exist when the provider was
 * installed, the provider can be in the user's cache folder.
 */
export function cudaFolder(): string {
  const [own, cache] = [cudaFolderIn(nativeHome()), findCacheDir()]
  if (hasProvider(own) || cache === null) return own
  const earlier = cudaFolderIn(join(cache, 'native'))
  return hasProvider(earlier) && hasSameCache(nativeHome()) ? earlier : own
}

/**
 * Returns the folder into which the CUDA provider is installed. The name of the folder contains the version of ONNX
 * Runtime, because the provider must have the same version.
 */
export function newCudaFolder(): string {
  return cudaFolderIn(nativeHome())
}

function cudaFolderIn(home: string): string {
  return join(home, `cuda-${runtimePackage.version}`)
}

function hasProvider(folder: string): boolean {
  return existsSync(join(folder, cudaProvider))
}

/**
 * Returns the C and C++ runtime libraries in the built program. ONNX Runtime needs them, and some machines lack them.
 */
export function cppLibraries(): { path: string; symbol: string }[] {
  const symbols = { 'libgcc_s.so.1': '_Unwind_Resume', 'libstdc++.so.6': '_ZSt9terminatev' }
  return Object.entries(symbols).flatMap(([name, symbol]) => {
    const path = findCarried(`lib/${name}`)
    return path === null ? [] : [{ path, symbol }]
  })
}

export function hasCuda(): boolean {
  return hasProvider(cudaFolder())
}

/** Returns the path of the voice detection model, Silero VAD v6, in an npm package for browsers. */
export function vadModel(): string {
  return mustFind('node_modules/@ricky0123/vad-web/dist/silero_vad_v6.onnx')
}

/**
 * Returns the paths of a recorded speech clip (`sound`) and its reference text (`truth`), or null if the build lacks
 * them.
 */
export function builtInClip(): { sound: string; truth: string } | null {
  const sound = findCarried('test/fixtures/speech/doctor.flac')
  const truth = findCarried('test/fixtures/speech/doctor.json')
  return sound && truth ? { sound, truth } : null
}

function mustFind(path: string): string {
  const found = findCarried(path)
  if (found === null) throw new Error(`${path} is missing: run make install, or build steno again`)
  return found
}
