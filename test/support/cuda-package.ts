// A fake of the NuGet package with ONNX Runtime's CUDA provider. A library that needs no GPU replaces the provider.

import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { carriedRuntime } from '../../src/engine/onnx/library.ts'
import { makeZip } from './zip.ts'

export const id = 'Microsoft.ML.OnnxRuntime.Gpu.Linux'
export const version = (
  await Bun.file(join(import.meta.dir, '../../node_modules/onnxruntime-node/package.json')).json()
).version
const native = `runtimes/linux-${process.arch}/native`

/**
 * The library that replaces ONNX Runtime's CUDA provider: a copy of another library, of 0.4 MB. The copy is changed to
 * depend on libcudart.so.13, which no test machine has. The real CUDA provider depends on it too.
 */
export const provider = readFileSync(join(dirname(carriedRuntime()), 'onnxruntime_binding.node'))
const name = provider.indexOf('libonnxruntime.so.1\0')
provider.write('libcudart.so.13\0', name)

export function packageOf(is = version): Buffer {
  const about = `<package><metadata><id>${id}</id><version>${is}</version></metadata></package>`
  return makeZip({
    [`${id}.nuspec`]: new TextEncoder().encode(about),
    [`${native}/libonnxruntime_providers_cuda.so`]: provider,
    [`${native}/libonnxruntime_providers_shared.so`]: new Uint8Array(5000),
    [`${native}/libonnxruntime_providers_tensorrt.so`]: new Uint8Array(7000),
  })
}
