// ONNX Runtime's C API through bun:ffi: the few functions the engine needs. The library hands out one table of
// function pointers that only ever grows at its end, so each function is named here by its place in the table.

import { CString, dlopen, linkSymbols, type Pointer, ptr, read } from 'bun:ffi'
import { cppLibraries } from './library.ts'

/** The oldest table that has everything below; newer libraries still serve it. */
const apiVersion = 22

// The place in the table, then what goes in: p pointer, n size, i int. All but the Release… and Clear…
// functions give null, or a status that says what went wrong.
const table = {
  CreateSession: [7, 'pppp'],
  CreateSessionFromArray: [8, 'ppnpp'],
  Run: [9, 'ppppnpnp'],
  CreateSessionOptions: [10, 'p'],
  SetSessionGraphOptimizationLevel: [23, 'pi'],
  SessionGetInputCount: [30, 'pp'],
  SessionGetOutputCount: [31, 'pp'],
  SessionGetInputTypeInfo: [33, 'pnp'],
  SessionGetOutputTypeInfo: [34, 'pnp'],
  SessionGetInputName: [36, 'pnpp'],
  SessionGetOutputName: [37, 'pnpp'],
  CreateTensorWithDataAsOrtValue: [49, 'ppnpnip'],
  GetTensorMutableData: [51, 'pp'],
  CastTypeInfoToTensorInfo: [55, 'pp'],
  GetTensorElementType: [60, 'pp'],
  GetDimensionsCount: [61, 'pp'],
  GetDimensions: [62, 'ppn'],
  GetTensorTypeAndShape: [65, 'pp'],
  CreateCpuMemoryInfo: [69, 'iip'],
  AllocatorFree: [76, 'pp'],
  GetAllocatorWithDefaultOptions: [78, 'p'],
  CreateEnvWithGlobalThreadPools: [119, 'ippp'],
  DisablePerSessionThreads: [120, 'p'],
  CreateThreadingOptions: [121, 'p'],
  SetGlobalIntraOpNumThreads: [147, 'pi'],
  SetGlobalInterOpNumThreads: [148, 'pi'],
  SetGlobalSpinControl: [149, 'pi'],
  SessionOptionsAppendExecutionProvider_CUDA_V2: [204, 'pp'],
  CreateCUDAProviderOptions: [205, 'p'],
  UpdateCUDAProviderOptions: [206, 'pppn'],
  SessionOptionsAppendExecutionProvider: [216, 'ppppn'],
} as const

const silentTable = {
  ReleaseStatus: [93, 'p'],
  ReleaseSession: [95, 'p'],
  ReleaseValue: [96, 'p'],
  ReleaseTypeInfo: [98, 'p'],
  ReleaseTensorTypeAndShapeInfo: [99, 'p'],
  ReleaseSessionOptions: [100, 'p'],
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

/** Opens the library. One pool of threads serves every session, so that none spins beside another's work. */
export function openRuntime(library: string, threads: number): Runtime {
  stayQuiet()
  const symbols = openLibrary(library)
  const base = symbols.OrtGetApiBase()!
  const { GetApi, GetVersionString } = linkSymbols({
    GetApi: { ptr: read.ptr(base, 0) as Pointer, args: ['u32'], returns: 'ptr' },
    GetVersionString: { ptr: read.ptr(base, 8) as Pointer, args: [], returns: 'ptr' },
  }).symbols
  const version = new CString(GetVersionString()!).toString()
  const api = GetApi(apiVersion)
  if (!api) throw new Error(`ONNX Runtime ${version} is too old`)

  const calls = link(api as Pointer)
  const at = (name: keyof typeof table, ...args: Argument[]) => pointerFrom(out => calls[name](...args, out))
  const options = at('CreateThreadingOptions')
  calls.SetGlobalIntraOpNumThreads(options, threads)
  calls.SetGlobalInterOpNumThreads(options, 1)
  // Threads that spin while they wait take the time of the API, and of each other where cores are shared.
  calls.SetGlobalSpinControl(options, 0)
  const warnings = 3
  return {
    ...calls,
    version,
    environment: at('CreateEnvWithGlobalThreadPools', warnings, text('steno'), options),
    allocator: at('GetAllocatorWithDefaultOptions'),
    cpuMemory: at('CreateCpuMemoryInfo', 1, 0),
  }
}

function openLibrary(library: string) {
  const wanted = { OrtGetApiBase: { args: [], returns: 'ptr' } } as const
  try {
    return dlopen(library, wanted).symbols
  } catch (error) {
    if (!/lib(stdc\+\+|gcc_s)\.so/.test(String(error))) throw error
    // A machine with nothing but glibc: what C++ needs is carried, and is found by its name once it is loaded.
    for (const { path, symbol } of cppLibraries()) dlopen(path, { [symbol]: { args: [], returns: 'void' } })
    return dlopen(library, wanted).symbols
  }
}

/**
 * The library writes a device id into the home folder and queues events for its maker unless this is set when it is
 * loaded. It reads the environment of the process, which an assignment to process.env does not reach.
 */
function stayQuiet(): void {
  if (process.platform !== 'linux') return
  const { symbols } = dlopen('libc.so.6', { setenv: { args: ['ptr', 'ptr', 'i32'], returns: 'i32' } })
  symbols.setenv(text('ORT_DISABLE_TELEMETRY'), text('1'), 1)
}

/** Calls with a place for one pointer, and gives what was put there. */
export function pointerFrom(call: (out: BigUint64Array) => void): Pointer {
  const out = new BigUint64Array(1)
  call(out)
  return Number(out[0]) as Pointer
}

/** A C string; keep what it gives as long as the library may read it. */
export function text(words: string): Uint8Array {
  return Buffer.from(`${words}\0`)
}

/** C strings as an array of pointers to them. `keep` holds the bytes alive. */
export function texts(words: readonly string[]): { pointers: BigUint64Array; keep: Uint8Array[] } {
  const keep = words.map(text)
  return { pointers: BigUint64Array.from(keep, each => BigInt(ptr(each))), keep }
}

function link(api: Pointer): Checked & Silent {
  const kinds = { p: 'ptr', n: 'u64', i: 'i32' } as const
  const wanted = (rows: Record<string, readonly [number, string]>, returns: 'ptr' | 'void') =>
    Object.fromEntries(
      Object.entries(rows).map(([name, [place, args]]) => [
        name,
        {
          ptr: read.ptr(api, place * 8) as Pointer,
          args: [...args].map(each => kinds[each as keyof typeof kinds]),
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
      const said = new CString(message(status)!).toString()
      silent.ReleaseStatus(status)
      throw new Error(said)
    },
  ])
  return { ...(Object.fromEntries(checked) as Checked), ...silent }
}
