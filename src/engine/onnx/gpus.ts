// Finds the NVIDIA GPUs of this machine.

import { readdirSync } from 'node:fs'

/**
 * Returns the NVIDIA GPUs that this process may use, each as a value of CUDA_VISIBLE_DEVICES. `chosen` is the value of
 * this variable for the whole process, or null if it is not set. `devices` is the folder of the device files.
 */
export function nvidiaGpus(
  chosen: string | null = process.env.CUDA_VISIBLE_DEVICES ?? null,
  devices = '/dev',
): string[] {
  if (chosen !== null) {
    const gpus = chosen.split(',').map(gpu => gpu.trim())
    // CUDA ignores the first invalid entry and all entries after it.
    const end = gpus.findIndex(gpu => !/^(\d+|GPU-|MIG-)/.test(gpu))
    return end < 0 ? gpus : gpus.slice(0, end)
  }
  return filesIn(devices)
    .filter(name => /^nvidia\d+$/.test(name))
    .map((_, index) => `${index}`)
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
