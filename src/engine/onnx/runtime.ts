// Loads the library of ONNX Runtime with bun:ffi, and starts it.

import { dlopen, linkSymbols, type Pointer, read } from 'bun:ffi'
import { openLibc } from '../../base/libc.ts'
import { type Argument, type Checked, link, type Silent, type table } from './functions.ts'
import { cppLibraries } from './library.ts'
import { cString, pointerFrom, textAt } from './pointers.ts'

/** The version of the C API with all functions that steno calls. Newer versions of the library also support it. */
const apiVersion = 22

export type Runtime = Checked &
  Silent & {
    version: string
    /** The number of threads in the pool that all sessions share, including the thread that runs a session. */
    threads: number
    environment: Pointer
    allocator: Pointer
    cpuMemory: Pointer
  }

/** The number of threads in the pool of this process. Null before the pool is started. */
let poolThreads: number | null = null

/**
 * Loads the shared library and starts ONNX Runtime with one pool of `threads` threads for all sessions. Throws an error
 * if the pool already has another number of threads, because ONNX Runtime would ignore the new number.
 */
export function openRuntime(library: string, threads: number): Runtime {
  if (poolThreads !== null && poolThreads !== threads)
    throw new Error(`this process has a pool of ${poolThreads} threads, and cannot have one of ${threads}`)
  disableTelemetry()
  const symbols = openLibrary(library)
  const base = symbols.OrtGetApiBase()
  if (!base) throw new Error('ONNX Runtime gives no functions')
  const { GetApi, GetVersionString } = linkSymbols({
    GetApi: { ptr: read.ptr(base, 0) as Pointer, args: ['u32'], returns: 'ptr' },
    GetVersionString: { ptr: read.ptr(base, 8) as Pointer, args: [], returns: 'ptr' },
  }).symbols
  const version = textAt(GetVersionString())
  const api = GetApi(apiVersion)
  if (!api) throw new Error(`ONNX Runtime ${version} is too old`)

  const calls = link(api as Pointer)
  const at = (name: keyof typeof table, ...args: Argument[]) => pointerFrom(out => calls[name](...args, out))
  const options = at('CreateThreadingOptions')
  calls.SetGlobalIntraOpNumThreads(options, threads)
  calls.SetGlobalInterOpNumThreads(options, 1)
  // Waiting threads of the pool must sleep. With busy waiting, they would take CPU time from the server and from other
  // threads.
  calls.SetGlobalSpinControl(options, 0)
  const errors = 3
  poolThreads = threads
  return {
    ...calls,
    version,
    threads,
    environment: at('CreateEnvWithGlobalThreadPools', errors, cString('steno'), options),
    allocator: at('GetAllocatorWithDefaultOptions'),
    cpuMemory: at('CreateCpuMemoryInfo', 1, 0),
  }
}

function openLibrary(library: string) {
  const symbols = { OrtGetApiBase: { args: [], returns: 'ptr' } } as const
  try {
    return dlopen(library, symbols).symbols
  } catch (error) {
    if (!/lib(stdc\+\+|gcc_s)\.so/.test(String(error))) throw error
    // The loading failed because this machine lacks the C++ libraries that ONNX Runtime needs. The program contains
    // these libraries. If they are loaded first, the dynamic linker uses them.
    for (const { path, symbol } of cppLibraries()) dlopen(path, { [symbol]: { args: [], returns: 'void' } })
    return dlopen(library, symbols).symbols
  }
}

/**
 * On Linux, disables the telemetry of ONNX Runtime, which writes a device id into the home folder and collects events
 * for Microsoft. Native code does not see changes of process.env, so the variable is set with setenv.
 */
function disableTelemetry(): void {
  if (process.platform !== 'linux') return
  const { setenv } = openLibc({ setenv: { args: ['ptr', 'ptr', 'i32'], returns: 'i32' } })
  setenv(cString('ORT_DISABLE_TELEMETRY'), cString('1'), 1)
}
