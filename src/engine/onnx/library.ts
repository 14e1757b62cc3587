// Finds the native library and the built-in models: in the project folder, or in the folder into which the program
// unpacks them.

import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import runtimePackage from '../../../node_modules/onnxruntime-node/package.json'
import { findCarried, nativeHome } from '../../base/carried.ts'

export const cudaProvider = 'libonnxruntime_providers_cuda.so'

/**
 * Returns the path of ONNX Runtime's shared library: the copy in the folder of the CUDA provider if this provider is
 * installed, and the carried library otherwise.
 */
export function runtimeLibrary(): string {
  return hasCuda() ? join(cudaFolder(), basename(carriedRuntime())) : carriedRuntime()
}

/** Returns the path of the shared library that the npm package contains. */
export function carriedRuntime(): string {
  const platform = `${process.platform}/${process.arch}`
  const name = process.platform === 'darwin' ? 'libonnxruntime.1.dylib' : 'libonnxruntime.so.1'
  return mustFind(`node_modules/onnxruntime-node/bin/napi-v6/${platform}/${name}`)
}

/**
 * Returns the folder of the CUDA provider. ONNX Runtime finds a provider only in its own folder, and only in its own
 * version. So the folder has the version of ONNX Runtime in its name. The provider has hundreds of megabytes, and
 * stays installed when steno is upgraded.
 */
export function cudaFolder(): string {
  return join(nativeHome(), `cuda-${runtimePackage.version}`)
}

/**
 * Returns the C++ libraries that ONNX Runtime needs, for machines that lack them. The program contains the libraries
 * of the machine on which it was built.
 */
export function cppLibraries(): { path: string; symbol: string }[] {
  const symbols = { 'libgcc_s.so.1': '_Unwind_Resume', 'libstdc++.so.6': '_ZSt9terminatev' }
  return Object.entries(symbols).flatMap(([name, symbol]) => {
    const path = findCarried(`lib/${name}`)
    return path === null ? [] : [{ path, symbol }]
  })
}

/** Returns true if the CUDA provider is installed. */
export function hasCuda(): boolean {
  return existsSync(join(cudaFolder(), cudaProvider))
}

/** Returns the path of the Silero VAD v6 model. An npm package for browsers contains this model. */
export function vadModel(): string {
  return mustFind('node_modules/@ricky0123/vad-web/dist/silero_vad_v6.onnx')
}

/**
 * Returns the path of a clip of speech, and the path of its reference text. Returns null in a build without these
 * files.
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
