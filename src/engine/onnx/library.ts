// Paths of the native library and the built-in models: in the project folder, or unpacked from the binary.

import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import runtimePackage from '../../../node_modules/onnxruntime-node/package.json'
import { findCarried, nativeHome } from '../../base/carried.ts'

export const cudaProvider = 'libonnxruntime_providers_cuda.so'

/**
 * Returns ONNX Runtime's shared library: the copy in the folder of the CUDA provider if that was pulled, otherwise the
 * bundled one.
 */
export function runtimeLibrary(): string {
  return hasCuda() ? join(cudaFolder(), basename(carriedRuntime())) : carriedRuntime()
}

/** Returns the shared library that the npm package contains. */
export function carriedRuntime(): string {
  const platform = `${process.platform}/${process.arch}`
  const name = process.platform === 'darwin' ? 'libonnxruntime.1.dylib' : 'libonnxruntime.so.1'
  return mustFind(`node_modules/onnxruntime-node/bin/napi-v6/${platform}/${name}`)
}

/**
 * Returns the folder of the CUDA provider. ONNX Runtime searches for providers in its own folder, and they work only
 * with the same version of it. They are hundreds of megabytes, so the folder is named by that version and survives an
 * upgrade of steno.
 */
export function cudaFolder(): string {
  return join(nativeHome(), `cuda-${runtimePackage.version}`)
}

/**
 * Returns the C++ libraries that the runtime needs, for machines without them. The binary contains those of its build
 * machine.
 */
export function cppLibraries(): { path: string; symbol: string }[] {
  const symbols = { 'libgcc_s.so.1': '_Unwind_Resume', 'libstdc++.so.6': '_ZSt9terminatev' }
  return Object.entries(symbols).flatMap(([name, symbol]) => {
    const path = findCarried(`lib/${name}`)
    return path === null ? [] : [{ path, symbol }]
  })
}

/** Returns true if the CUDA provider was pulled. */
export function hasCuda(): boolean {
  return existsSync(join(cudaFolder(), cudaProvider))
}

/** Returns the Silero VAD v6 model, from the npm package for browsers. */
export function vadModel(): string {
  return mustFind('node_modules/@ricky0123/vad-web/dist/silero_vad_v6.onnx')
}

/** Returns a clip of speech and the file with its reference text, or null in a build without them. */
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
