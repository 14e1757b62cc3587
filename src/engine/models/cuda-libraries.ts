// Finds the shared libraries that the CUDA provider needs and the machine lacks.

import { ptr } from 'bun:ffi'
import { basename, join } from 'node:path'
import { neededLibraries } from '../../base/elf.ts'
import { openLibc } from '../../base/libc.ts'
import { carriedRuntime, cudaFolder, cudaProvider } from '../onnx/library.ts'
import { libraries } from './cuda.ts'

/** Returns the names of the shared libraries that the CUDA provider needs but the dynamic linker does not find. */
export function missingForCuda(): string[] {
  const own = [...libraries, basename(carriedRuntime())]
  return neededLibraries(join(cudaFolder(), cudaProvider)).filter(name => !own.includes(name) && !loads(name))
}

/** Returns the command that installs the missing libraries, with NVIDIA's packages for Debian and Ubuntu. */
export function installHint(missing: readonly string[]): string {
  const cudnn = missing.find(name => name.startsWith('libcudnn'))
  const toolkit = missing.filter(name => !name.startsWith('libcudnn') && name !== 'libcuda.so.1')
  const cuda = majorVersion(toolkit.find(name => /^lib(cudart|cublas)/.test(name))) ?? '12'
  const packages = [
    ...(toolkit.length > 0 ? [`cuda-libraries-${cuda}-${cuda === '12' ? '9' : '0'}`] : []),
    ...(cudnn ? [`libcudnn${majorVersion(cudnn) ?? ''}-cuda-${cuda}`] : []),
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

function loads(name: string): boolean {
  const { dlopen } = openLibc({ dlopen: { args: ['ptr', 'i32'], returns: 'ptr' } })
  const lazily = 1
  return dlopen(ptr(Buffer.from(`${name}\0`)), lazily) !== null
}
