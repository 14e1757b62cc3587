// Where the engine's native library and built-in models lie. A door: the build puts unpacked files in its place.

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = new URL('../../', import.meta.url)

/** ONNX Runtime's shared library, as the npm package carries it; provider libraries lie beside it. */
export function runtimeLibrary(): string {
  const platform = `${process.platform}/${process.arch}`
  const name = process.platform === 'darwin' ? 'libonnxruntime.1.dylib' : 'libonnxruntime.so.1'
  return fileURLToPath(new URL(`node_modules/onnxruntime-node/bin/napi-v6/${platform}/${name}`, root))
}

/** Whether the provider library that CUDA needs has been put beside the runtime. */
export function hasCuda(): boolean {
  return existsSync(join(dirname(runtimeLibrary()), 'libonnxruntime_providers_cuda.so'))
}

/** Silero VAD v6, from a package made for it. */
export function vadModel(): string {
  return fileURLToPath(new URL('node_modules/@ricky0123/vad-web/dist/silero_vad_v6.onnx', root))
}

/** The built-in pocket model's folder, or null in a build without one. */
export function pocketModel(): string | null {
  const folder = fileURLToPath(new URL('models/pocket/whisper-pocket', root))
  return existsSync(folder) ? folder : null
}

/** A spoken clip and a file that says what is heard in it, or null in a build without one. */
export function pocketClip(): { sound: string; truth: string } | null {
  const [sound, truth] = ['flac', 'json'].map(extension =>
    fileURLToPath(new URL(`test/fixtures/speech/doctor.${extension}`, root)),
  ) as [string, string]
  return existsSync(sound) && existsSync(truth) ? { sound, truth } : null
}
