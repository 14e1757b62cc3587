// Opens the ONNX files of framewise models, whose weights may have 8 bits. Framewise models are CTC (connectionist
// temporal classification) or TDT (token-and-duration transducer) models.

import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { firstLineOf } from '../../base/reason.ts'
import { addsBytesExactly } from './byte-products.ts'
import type { Runtime } from './runtime.ts'
import { type Device, openSession, type Session } from './session.ts'
import { withSignedWeights } from './signed-weights.ts'

/**
 * Opens the model in the file `path`. The VNNI instructions of an x86 CPU multiply unsigned bytes by signed bytes. The
 * activations are unsigned, so the weights must be signed. On a CPU with VNNI, unsigned weights of an `.int8.onnx` file
 * are therefore first changed to signed bytes. ONNX Runtime then needs half the time. If the model cannot be opened,
 * the error message contains the path of the file.
 */
export function openQuantised(runtime: Runtime, path: string, device: Device): Session {
  const hasBytes = device === 'cpu' && path.endsWith('.int8.onnx')
  if (!hasBytes || process.arch !== 'x64' || !addsBytesExactly(runtime))
    return openSession(runtime, path, device)
  try {
    return openSession(runtime, withSignedWeights(readFileSync(path)), device, dirname(path))
  } catch (error) {
    throw new Error(`${path} cannot be opened: ${firstLineOf(error)}`)
  }
}
