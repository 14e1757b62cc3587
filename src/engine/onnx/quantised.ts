// Opens ONNX models with 8-bit weights, such as the speech models of two kinds that users can download: CTC
// (connectionist temporal classification) and TDT (token-and-duration transducer).

import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Runtime } from './runtime.ts'
import { type Device, openSession, type Session } from './session.ts'
import { withSignedWeights } from './signed-weights.ts'

/** The file in which Linux lists the features of the CPU. Other systems do not have this file. */
const cpus = '/proc/cpuinfo'

/**
 * Opens the model in the file `path`. If its weights are unsigned bytes and the CPU has VNNI instructions, the weights
 * are first changed to signed bytes. VNNI multiplies unsigned bytes by signed bytes, so ONNX Runtime then needs half
 * the time.
 */
export function openQuantised(runtime: Runtime, path: string, device: Device): Session {
  if (device !== 'cpu' || !path.endsWith('.int8.onnx') || !hasVnni())
    return openSession(runtime, path, device)
  return openSession(runtime, withSignedWeights(readFileSync(path)), device, dirname(path))
}

/**
 * Returns true if the CPU has VNNI instructions, which multiply unsigned bytes by signed bytes exactly. Older x86 CPUs
 * limit the sum of two such products to 16 bits, so the results of these CPUs can be wrong.
 */
function hasVnni(): boolean {
  if (process.arch !== 'x64' || !existsSync(cpus)) return false
  return /\bavx(512)?_vnni\b/.test(readFileSync(cpus, 'utf8'))
}
