// The functions of ONNX Runtime's C API that the engine needs. The library has an array of function pointers. New
// versions add functions only at the end of this array, so an index never changes.

import { linkSymbols, type Pointer, read } from 'bun:ffi'
import { textAt } from './pointers.ts'
import { reasonIn } from './status-text.ts'

/**
 * The functions of ONNX Runtime that return a status, which is null or a pointer to an error. An entry has the index in
 * ONNX Runtime's array of function pointers, and a letter for each argument: `p` for a pointer, `n` for a size, and `i`
 * for an int.
 */
export const table = {
  CreateSession: [7, 'pppp'],
  CreateSessionFromArray: [8, 'ppnpp'],
  Run: [9, 'ppppnpnp'],
  CreateSessionOptions: [10, 'p'],
  SetSessionGraphOptimizationLevel: [23, 'pi'],
  SetIntraOpNumThreads: [24, 'pi'],
  CreateCustomOpDomain: [26, 'pp'],
  CustomOpDomain_Add: [27, 'pp'],
  AddCustomOpDomain: [28, 'pp'],
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
  RunAsync: [260, 'ppppnpnppp'],
} as const

/**
 * The functions of ONNX Runtime that return no status. An entry has the index in ONNX Runtime's array of function
 * pointers, and a letter for each argument (`p` for a pointer).
 */
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

export type Argument = Pointer | NodeJS.TypedArray | number | null
export type Checked = Record<keyof typeof table, (...args: Argument[]) => void>
export type Silent = Record<keyof typeof silentTable, (...args: Argument[]) => void>

export function link(api: Pointer): Checked & Silent {
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
      const text = textAt(message(status))
      silent.ReleaseStatus(status)
      throw new Error(reasonIn(text))
    },
  ])
  return { ...(Object.fromEntries(checked) as Checked), ...silent }
}
