// Opens the ONNX files of framewise models, whose weights may have 8 bits. There are two kinds of these models: CTC
// (connectionist temporal classification) and TDT (token-and-duration transducer).

import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { addsBytesExactly } from './byte-products.ts'
import type { Runtime } from './runtime.ts'
import { type Device, openSession, type Session } from './session.ts'
import { withSignedWeights } from './signed-weights.ts'

/**
 * Opens the model in the file `path`. If it is an `.int8.onnx` file with weights of unsigned bytes, and it runs on an
 * x86 CPU that adds byte products exactly, the weights are first changed to signed bytes. Such a CPU has VNNI
 * instructions, which multiply unsigned bytes by signed bytes, so ONNX Runtime then needs half the time.
 */
export function openQuantised(runtime: Runtime, path: string, device: Device): Session {
  const hasBytes = device === 'cpu' && path.endsWith('.int8.onnx')
  if (!hasBytes || process.arch !== 'x64' || !addsBytesExactly(runtime))
    return openSession(runtime, path, device)
  return openSession(runtime, withSignedWeights(readFileSync(path)), device, dirname(path))
}
