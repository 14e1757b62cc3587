// The devices on which the engine tries to run a speech model.

import type { Config } from '../config.ts'
import { isCompact } from './models/layout.ts'
import { hasCuda } from './onnx/library.ts'
import type { Device } from './onnx/session.ts'

/**
 * Returns the devices to try for the speech model in `folder`, the preferred device first. A model in the compact form
 * (8-bit weights) runs only on the CPU. With `auto`, CUDA is tried only if ONNX Runtime's CUDA provider is installed.
 */
export function devicesFor(device: Config['device'], folder: string): Device[] {
  if (isCompact(folder)) return ['cpu']
  if (device !== 'auto') return [device]
  return hasCuda() ? ['cuda', 'cpu'] : ['cpu']
}
