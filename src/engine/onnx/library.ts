// Where the engine's native library and built-in models lie: in the project, or unpacked from the binary.

import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import runtimePackage from '../../../node_modules/onnxruntime-node/package.json'
import { findCarried, nativeHome } from '../../base/carried.ts'

export const cudaProvider = 'libonnxruntime_providers_cuda.so'

/** ONNX Runtime's shared library: the one beside its CUDA provider, when that was fetched, or the carried one. */
export function runtimeLibrary(): string {
  return hasCuda() ? join(cudaFolder(), basename(carriedRuntime())) : carriedRuntime()
}

/** As the npm package has it. */
export function carriedRuntime(): string {
  const platform = `${process.platform}/${process.arch}`
  const name = process.platform === 'darwin' ? 'libonnxruntime.1.dylib' : 'libonnxruntime.so.1'
  return mustFind(`node_modules/onnxruntime-node/bin/napi-v6/${platform}/${name}`)
}

/**
 * The library looks for its providers beside itself. They are hundreds of megabytes, so they stay when an upgrade
 * brings the same version of it; with another version they would not load, and are not looked at.
 */
export function cudaFolder(): string {
  return join(nativeHome(), `cuda-${runtimePackage.version}`)
}

/** The C++ libraries that the runtime needs, for a machine that lacks them; the binary carries those of its builder. */
export function cppLibraries(): { path: string; symbol: string }[] {
  const symbols = { 'libgcc_s.so.1': '_Unwind_Resume', 'libstdc++.so.6': '_ZSt9terminatev' }
  return Object.entries(symbols).flatMap(([name, symbol]) => {
    const path = findCarried(`lib/${name}`)
    return path === null ? [] : [{ path, symbol }]
  })
}

/** Whether the provider library that CUDA needs has been fetched. */
export function hasCuda(): boolean {
  return existsSync(join(cudaFolder(), cudaProvider))
}

/** Silero VAD v6, from a package made for it. */
export function vadModel(): string {
  return mustFind('node_modules/@ricky0123/vad-web/dist/silero_vad_v6.onnx')
}

/** The built-in pocket model's folder, or null in a build without one. */
export function pocketModel(): string | null {
  return findCarried('models/pocket/whisper-pocket')
}

/** The built-in models that tell voices apart, or null in a build without them. */
export function pocketVoices(): { segmentation: string; embedding: string } | null {
  const segmentation = findCarried('models/pocket/pyannote-segmentation-pocket')
  const embedding = findCarried('models/pocket/wespeaker-pocket')
  return segmentation && embedding ? { segmentation, embedding } : null
}

/** A spoken clip and a file that says what is heard in it, or null in a build without one. */
export function pocketClip(): { sound: string; truth: string } | null {
  const sound = findCarried('test/fixtures/speech/doctor.flac')
  const truth = findCarried('test/fixtures/speech/doctor.json')
  return sound && truth ? { sound, truth } : null
}

function mustFind(path: string): string {
  const found = findCarried(path)
  if (found === null) throw new Error(`${path} is not here: install the packages, or build again`)
  return found
}
