// Calls the functions of ONNX Runtime's C API that the engine needs, with bun:ffi. The library gives access to its
// functions by an array of function pointers. New versions of the library only add functions at the end of this array,
// so the index of a function never changes.

import { CString, dlopen, linkSymbols, type Pointer, ptr, read } from 'bun:ffi'
import { cppLibraries } from './library.ts'

/**
 * The version of the C API that steno requests. It is the oldest version with all functions that steno calls (`table`
 * and `silentTable`). Newer libraries support this version too.
 */
const apiVersion = 22

/**
 * The functions that return a status. For each function: its index in the library's array, and the types of its
 * arguments. `p` is a pointer, `n` is a size, and `i` is an int. The status is null, or a pointer to an error.
 */
const table = {
  CreateSession: [7, 'pppp'],
  CreateSessionFromArray: [8, 'ppnpp'],
  Run: [9, 'ppppnpnp'],
  CreateSessionOptions: [10, 'p'],
  SetSessionGraphOptimizationLevel: [23, 'pi'],
  SetIntraOpNumThreads: [24, 'pi'],
  SessionGetInputCount: [30, 'pp'],
  SessionGetOutputCount: [31, 'pp'],
  SessionGetInputTypeInfo: [33, 'pnp'],
  SessionGetOutputTypeInfo: [34, 'pnp'],
  SessionGetInputName: [36, 'pnpp'],
  SessionGetOutputName: [37, 'pnpp'],
  CreateRunOptions: [39, 'p'],
  CreateTensorAsOrtValue: [48, 'ppnip'],
  CreateTensorWithDataAsOrtValue: [49, 'ppnpnip'],
  GetTensorMutableData: [51, 'pp'],
  CastTypeInfoToTensorInfo: [55, 'pp'],
  GetTensorElementType: [60, 'pp'],
  GetDimensionsCount: [61, 'pp'],
  GetDimensions: [62, 'ppn'],
  GetTensorTypeAndShape: [65, 'pp'],
  CreateMemoryInfo: [68, 'piiip'],
  CreateCpuMemoryInfo: [69, 'iip'],
  AllocatorFree: [76, 'pp'],
  GetAllocatorWithDefaultOptions: [78, 'p'],
  CreateEnvWithGlobalThreadPools: [119, 'ippp'],
  DisablePerSessionThreads: [120, 'p'],
  CreateThreadingOptions: [121, 'p'],
  AddSessionConfigEntry: [130, 'ppp'],
  CreateAllocator: [131, 'ppp'],
  RunWithBinding: [133, 'ppp'],
  CreateIoBinding: [134, 'pp'],
  BindInput: [136, 'ppp'],
  BindOutput: [137, 'ppp'],
  SetGlobalIntraOpNumThreads: [147, 'pi'],
  SetGlobalInterOpNumThreads: [148, 'pi'],
  SetGlobalSpinControl: [149, 'pi'],
  AddRunConfigEntry: [165, 'ppp'],
  SessionOptionsAppendExecutionProvider_CUDA_V2: [204, 'pp'],
  CreateCUDAProviderOptions: [205, 'p'],
  UpdateCUDAProviderOptions: [206, 'pppn'],
  AddExternalInitializers: [210, 'pppn'],
  SessionOptionsAppendExecutionProvider: [216, 'ppppn'],
} as const

/** The functions that return no status. An entry has the same form as in `table`. */
const silentTable = {
  ReleaseStatus: [93, 'p'],
  ReleaseMemoryInfo: [94, 'p'],
  ReleaseSession: [95, 'p'],
  ReleaseValue: [96, 'p'],
  ReleaseRunOptions: [97, 'p'],
  ReleaseTypeInfo: [98, 'p'],
  ReleaseTensorTypeAndShapeInfo: [99, 'p'],
  ReleaseSessionOptions: [100, 'p'],
  ReleaseAllocator: [132, 'p'],
  ReleaseIoBinding: [135, 'p'],
} as const

type Argument = Pointer | NodeJS.TypedArray | number | null
type Checked = Record<keyof typeof table, (...args: Argument[]) => void>
type Silent = Record<keyof typeof silentTable, (...args: Argument[]) => void>

export type Runtime = Checked &
  Silent & {
    version: string
    environment: Pointer
    allocator: Pointer
    cpuMemory: Pointer
  }

/** Loads the shared library and starts ONNX Runtime with one pool of `threads` threads, which all sessions share. */
export function openRuntime(library: string, threads: number): Runtime {
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
  // Waiting threads must sleep. With busy waiting, the waiting threads would take CPU time from the server and from
  // other threads.
  calls.SetGlobalSpinControl(options, 0)
  const warnings = 3
  return {
    ...calls,
    version,
    environment: at('CreateEnvWithGlobalThreadPools', warnings, cString('steno'), options),
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
    // This machine lacks the C++ libraries that ONNX Runtime needs. The libraries that the program contains are loaded
    // first. The dynamic linker then uses these libraries for ONNX Runtime.
    for (const { path, symbol } of cppLibraries()) dlopen(path, { [symbol]: { args: [], returns: 'void' } })
    return dlopen(library, symbols).symbols
  }
}

/**
 * Disables the telemetry of ONNX Runtime. Otherwise the library writes a device id into the home folder when it is
 * loaded, and collects events for Microsoft. Native code does not see changes of process.env, so the variable is set
 * with setenv.
 */
function disableTelemetry(): void {
  if (process.platform !== 'linux') return
  const { symbols } = dlopen('libc.so.6', { setenv: { args: ['ptr', 'ptr', 'i32'], returns: 'i32' } })
  symbols.setenv(cString('ORT_DISABLE_TELEMETRY'), cString('1'), 1)
}

/** Calls a C function that writes a pointer to its argument `out`. Returns this pointer. */
export function pointerFrom(call: (out: BigUint64Array) => void): Pointer {
  const out = new BigUint64Array(1)
  call(out)
  return Number(out[0]) as Pointer
}

/**
 * Returns the bytes of a C string. While the library may read the string, the caller must keep a reference to the
 * returned array.
 */
export function cString(text: string): Uint8Array {
  return Buffer.from(`${text}\0`)
}

/** Returns an array of pointers to C strings. The strings stay in memory as long as the array. */
export function cStrings(texts: readonly string[]): BigUint64Array {
  const strings = texts.map(cString)
  const pointers = BigUint64Array.from(strings, string => BigInt(ptr(string)))
  keepAlive(pointers, strings)
  return pointers
}

const kept = new WeakMap<object, unknown>()

/**
 * Keeps `memory` alive as long as `owner` is alive. The library reads this memory through pointers, which the garbage
 * collector does not see.
 */
function keepAlive(owner: object, memory: unknown): void {
  kept.set(owner, memory)
}

function textAt(pointer: Pointer | bigint | null): string {
  return pointer === null ? '' : new CString(Number(pointer) as Pointer).toString()
}

function link(api: Pointer): Checked & Silent {
  const kinds = { p: 'ptr', n: 'u64', i: 'i32' } as const
  const wanted = (rows: Record<string, readonly [number, string]>, returns: 'ptr' | 'void') =>
    Object.fromEntries(
      Object.entries(rows).map(([name, [place, args]]) => [
        name,
        {
          ptr: read.ptr(api, place * 8) as Pointer,
          args: [...args].map(kind => kinds[kind as keyof typeof kinds]),
          returns,
        },
      ]),
    )
  const silent = linkSymbols(wanted(silentTable, 'void')).symbols as unknown as Silent
  const { message } = linkSymbols({
    message: { ptr: read.ptr(api, 2 * 8) as Pointer, args: ['ptr'], returns: 'ptr' },
  }).symbols
  const checked = Object.entries(linkSymbols(wanted(table, 'ptr')).symbols).map(([name, call]) => [
    name,
    (...args: Argument[]) => {
      const status = (call as unknown as (...given: Argument[]) => Pointer | null)(...args)
      if (!status) return
      const reason = textAt(message(status))
      silent.ReleaseStatus(status)
      throw new Error(reason)
    },
  ])
  return { ...(Object.fromEntries(checked) as Checked), ...silent }
}
