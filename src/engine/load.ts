// Loads the model of a folder on a device. If the device is `auto`, the CPU is the fallback. The returned
// facts name the device that is used.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { firstLineOf } from '../base/reason.ts'
import { formatSize } from '../base/units.ts'
import type { Config } from '../config.ts'
import { openWhisper, type Variant, type Whisper } from './hear/whisper.ts'
import { isCompact, weightFiles } from './models/layout.ts'
import type { VoiceChoice } from './models/voices.ts'
import { hasCuda, runtimeLibrary, vadModel } from './onnx/library.ts'
import { openRuntime, type Runtime } from './onnx/runtime.ts'
import type { Device } from './onnx/session.ts'
import type { LoadedFacts, Order } from './protocol.ts'
import { type LoadedModels, languagesOf, openModels } from './transcribe.ts'
import { openVoices } from './who/voices.ts'

export type LoadedEngine = { models: LoadedModels; facts: LoadedFacts }

type LoadOptions = Pick<Extract<Order, { kind: 'load' }>, 'folder' | 'voices' | 'device' | 'threads'>

export async function openModel({ folder, voices, device, threads }: LoadOptions): Promise<LoadedEngine> {
  const runtime = openRuntime(runtimeLibrary(), threads)
  const notes: string[] = []
  const compact = isCompact(folder)
  if (compact && device !== 'cpu' && device !== 'auto')
    notes.push(`weights in the compact form run on the CPU, not on ${device}`)
  for (const candidate of compact ? (['cpu'] as const) : candidates(device)) {
    let variant: Variant
    let whisper: Whisper
    try {
      variant = compact ? 'compact' : variantFor(folder, candidate)
      requireMemory(weightFiles(folder, variant))
      whisper = await openWhisper(runtime, folder, { device: candidate, variant })
    } catch (error) {
      const cause = firstLineOf(error)
      if (candidate === 'cpu' || device !== 'auto')
        throw new Error([...notes, `${candidate}: ${cause}`].join('; '))
      notes.push(`${candidate} cannot be used: ${cause}`)
      continue
    }
    const models = openModels(
      runtime,
      whisper,
      await Bun.file(vadModel()).bytes(),
      openVoicesFor(runtime, voices, { device: candidate, notes }),
    )
    return {
      models,
      facts: {
        device: candidate,
        variant: variant.replace('_', '') || 'fp32',
        runtime: runtime.version,
        languages: languagesOf(whisper),
        translates: whisper.facts.translate !== null,
        diarization: 'problem' in models.voices ? models.voices.problem : 'ready',
        notes,
      },
    }
  }
  throw new Error('there is no device to run on')
}

/** Opens the voice models. If this fails, only jobs with diarization fail. */
function openVoicesFor(
  runtime: Runtime,
  voices: VoiceChoice,
  { device, notes }: { device: Device; notes: string[] },
): LoadedModels['voices'] {
  if ('problem' in voices) return voices
  try {
    if (device !== 'cuda') return openVoices(runtime, voices)
    // On a GPU, an embedding is computed in every view, from up to 10 s of speech. A GPU is fast enough for
    // this.
    const profile = { ...voices.profile, every: 1, embeddingSecondsMax: 10 }
    return openVoices(runtime, { ...voices, profile }, device)
  } catch (error) {
    notes.push(`the voice models cannot be loaded: ${firstLineOf(error)}`)
    return {
      problem:
        'The models for telling speakers apart cannot be loaded; the log says why when the service starts',
    }
  }
}

/**
 * Returns the devices to try, in order. `auto` tries CUDA only if the CUDA provider is installed. Otherwise
 * the attempt would take a second and log a warning.
 */
function candidates(device: Config['device']): Device[] {
  if (device !== 'auto') return [device]
  return hasCuda() ? ['cuda', 'cpu'] : ['cpu']
}

/**
 * The variants that each device can load, best first. `''` is fp32. A CPU computes fp16 four times as slowly
 * as fp32, so the list of the CPU has no fp16.
 */
const preferences: Record<Device, Variant[]> = {
  cpu: ['_quantized', ''],
  cuda: ['_fp16', '', '_quantized'],
  webgpu: ['_fp16', '', '_quantized'],
}

export function variantFor(folder: string, device: Device): Variant {
  const found = preferences[device].find(variant => weightFiles(folder, variant).length > 0)
  if (found !== undefined) return found
  const wanted = preferences[device].map(variant => `encoder_model${variant}.onnx`).join(' or ')
  throw new Error(
    `${join(folder, 'onnx')} has no ${wanted} with its decoder_model_merged: run steno models pull with STENO_DEVICE=${device}`,
  )
}

/**
 * Throws when the weight files are larger than the available memory. Otherwise the kernel would kill the
 * process while it loads them.
 */
export function requireMemory(files: readonly string[], available = availableMemory()): void {
  const sizes = files.map(path => ({ path, bytes: statSync(path).size }))
  const bytes = sizes.reduce((sum, file) => sum + file.bytes, 0)
  if (bytes <= available) return
  const { path } = sizes.reduce((largest, file) => (file.bytes > largest.bytes ? file : largest))
  throw new Error(
    `the weights take ${formatSize(bytes)} (the largest file is ${path}), and ${formatSize(available)} of memory is available`,
  )
}

/**
 * Returns the available memory of the machine in bytes, or the limit of the cgroup if this limit is lower.
 */
function availableMemory(): number {
  const limit = process.constrainedMemory()
  return Math.min(process.availableMemory(), limit > 0 ? limit : Number.POSITIVE_INFINITY)
}
