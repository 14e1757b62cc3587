// Finds the files for CUDA that are missing: ONNX Runtime's CUDA provider, or the shared libraries that this provider
// needs.

import { ptr } from 'bun:ffi'
import { basename, join } from 'node:path'
import { neededLibraries } from '../../base/elf.ts'
import { openLibc } from '../../base/libc.ts'
import { carriedRuntime, cudaFolder, cudaProvider, hasCuda } from '../onnx/library.ts'
import { libraries } from './cuda.ts'

/**
 * cuDNN is not in the CUDA provider's list of needed libraries. ONNX Runtime 1.30 opens cuDNN only for a model with an
 * operation that needs it. Without cuDNN, each job with such a model fails. So steno adds cuDNN to the needed
 * libraries: if cuDNN is missing, steno says so before it loads a model.
 */
const cudnn = 'libcudnn.so.9'

/** Returns why CUDA cannot be used on this machine, and what to do. Returns null if nothing is missing. */
export function whyNoCuda(): string | null {
  if (!hasCuda()) return 'its provider is not here; run: steno runtime pull cuda'
  const needed = neededForCuda()
  const missing = needed.filter(name => !loads(name))
  if (missing.length === 0) return null
  return `this machine lacks ${missing.join(', ')}: ${installHint(missing, needed)}`
}

/** Returns the names of the shared libraries that the CUDA provider needs, without ONNX Runtime's own. */
function neededForCuda(): string[] {
  const own = [...libraries, basename(carriedRuntime())]
  const named = neededLibraries(join(cudaFolder(), cudaProvider)).filter(name => !own.includes(name))
  return [...new Set([...named, cudnn])]
}

/**
 * Returns what to install: the NVIDIA driver, if it is missing, and the command for the other missing libraries.
 * `needed` are the names of all libraries that the CUDA provider needs.
 */
export function installHint(missing: readonly string[], needed: readonly string[] = missing): string {
  const missingCudnn = missing.find(name => name.startsWith('libcudnn'))
  const toolkit = missing.filter(name => !name.startsWith('libcudnn') && name !== 'libcuda.so.1')
  const cuda = majorVersion(needed.find(name => /^lib(cudart|cublas)/.test(name))) ?? '13'
  const packages = [
    ...(toolkit.length > 0 ? [`cuda-libraries-${cuda}-${cuda === '12' ? '9' : '0'}`] : []),
    ...(missingCudnn ? [`libcudnn${majorVersion(missingCudnn) ?? ''}-cuda-${cuda}`] : []),
  ]
  const driver = missing.includes('libcuda.so.1') ? 'the NVIDIA driver' : ''
  const command =
    packages.length > 0 ? `apt-get install ${packages.join(' ')} (from NVIDIA's repository)` : ''
  return [driver, command].filter(part => part !== '').join(' and ')
}

/** Returns the major version in the name of a shared library, such as 9 for `libcudnn.so.9`. */
function majorVersion(library = ''): string | undefined {
  return /\.so\.(\d+)$/.exec(library)?.[1]
}

/** Returns true if a shared library can be loaded, by its name or from the folder of the CUDA provider. */
function loads(name: string): boolean {
  const { dlopen } = openLibc({ dlopen: { args: ['ptr', 'i32'], returns: 'ptr' } })
  const lazily = 1
  return [name, join(cudaFolder(), name)].some(path => dlopen(ptr(Buffer.from(`${path}\0`)), lazily) !== null)
}
