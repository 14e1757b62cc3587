// Opens one speech model of any kind on a device, with the best variant of its weights for this device.

import { join } from 'node:path'
import { openCtc } from './framewise/ctc.ts'
import { openTdt } from './framewise/tdt.ts'
import type { SpeechModel } from './hear/speech-model.ts'
import { openWhisper, type Variant } from './hear/whisper.ts'
import { whisperModel } from './hear/whisper-model.ts'
import { requireMemory } from './memory.ts'
import { framewiseKind, framewiseWeights } from './models/framewise-layout.ts'
import { pointerFault } from './models/git-lfs.ts'
import { isCompact, weightFiles } from './models/layout.ts'
import type { InstalledModel } from './models/store.ts'
import type { Runtime } from './onnx/runtime.ts'
import type { Device } from './onnx/session.ts'

export type OpenedSpeech = { model: SpeechModel; variant: string }

/**
 * Opens a speech model of any kind. A model in the compact form (8-bit weights) is always opened on the CPU, because
 * its graphs run only there.
 */
export async function openSpeech(
  runtime: Runtime,
  { name, folder }: InstalledModel,
  { device, notes }: { device: Device; notes: string[] },
): Promise<OpenedSpeech> {
  const kind = framewiseKind(folder)
  if (kind !== null) {
    const files = framewiseWeights(folder, kind, device !== 'cpu')
    requireWeights(files)
    const open = kind === 'ctc' ? openCtc : openTdt
    const variant = files.some(path => path.endsWith('.int8.onnx')) ? 'int8' : 'fp32'
    return { model: await open(runtime, { name, folder }, device), variant }
  }
  const compact = isCompact(folder)
  const variant = compact ? 'compact' : variantFor(folder, device)
  requireWeights(weightFiles(folder, variant))
  const whisper = await openWhisper(runtime, folder, { device: compact ? 'cpu' : device, variant, notes })
  return { model: whisperModel(runtime, name, whisper), variant: variant.replace('_', '') || 'fp32' }
}

/**
 * Throws an error if a weight file is only a pointer of Git LFS (a small text in place of the file), or if the files
 * are larger than the available memory.
 */
function requireWeights(files: readonly string[]): void {
  for (const path of files) {
    const fault = pointerFault(path)
    if (fault !== null) throw new Error(fault)
  }
  requireMemory(files)
}

/**
 * The variants of Whisper's ONNX weight files for each device, best first. `''` is 32-bit floats, `_fp16` is 16-bit
 * floats, and `_quantized` is 8-bit weights. A CPU uses only 32-bit floats: it computes 16-bit floats four times more
 * slowly. With these 8-bit weights, Whisper base has 16.0 % wrong words, and with 32-bit floats 13.3 %.
 */
const preferences: Record<Device, Variant[]> = {
  cpu: [''],
  cuda: ['_fp16', '', '_quantized'],
  webgpu: ['_fp16', '', '_quantized'],
}

export function variantFor(folder: string, device: Device): Variant {
  const found = preferences[device].find(variant => weightFiles(folder, variant).length > 0)
  if (found !== undefined) return found
  const wanted = preferences[device]
    .map(variant => `encoder_model${variant}.onnx with decoder_model_merged${variant}.onnx`)
    .join(', or ')
  const reason =
    device === 'cpu' ? '; on a CPU, 16-bit files are slow and quantised files make more errors' : ''
  throw new Error(
    `${join(folder, 'onnx')} has no ${wanted}: run steno models pull with STENO_DEVICE=${device}, or put these files there${reason}`,
  )
}
