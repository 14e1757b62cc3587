// Loads a model folder on the requested device, or on the next best, and reports which.

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
        diarization: 'problem' in models.voices ? models.voices.problem : 'ready',
        notes,
      },
    }
  }
  throw new Error('there is no device to run on')
}

/** Without voice models only the jobs that ask for speakers fail. */
function openVoicesFor(
  runtime: Runtime,
  voices: VoiceChoice,
  { device, notes }: { device: Device; notes: string[] },
): LoadedModels['voices'] {
  if ('problem' in voices) return voices
  try {
    if (device !== 'cuda') return openVoices(runtime, voices)
    // A GPU is fast enough for an embedding of every view and of all its speech.
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

/** `auto` tries a GPU only where its provider library is: without the library the attempt costs a second and a warning. */
function candidates(device: Config['device']): Device[] {
  if (device !== 'auto') return [device]
  return hasCuda() ? ['cuda', 'cpu'] : ['cpu']
}

/** Best first. A CPU computes half floats four times as slowly as floats, so it has no variant of them. */
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

/** Throws when the weights cannot be in memory at once: the process would be killed while it loads them. */
export function requireMemory(files: readonly string[], available = availableMemory()): void {
  const sizes = files.map(path => ({ path, bytes: statSync(path).size }))
  const bytes = sizes.reduce((sum, file) => sum + file.bytes, 0)
  if (bytes <= available) return
  const { path } = sizes.reduce((largest, file) => (file.bytes > largest.bytes ? file : largest))
  throw new Error(
    `the weights take ${formatSize(bytes)} (the largest file is ${path}), and ${formatSize(available)} of memory is available`,
  )
}

/** The memory of the machine that is free, or the limit of the control group when that is less. */
function availableMemory(): number {
  const limit = process.constrainedMemory()
  return Math.min(process.availableMemory(), limit > 0 ? limit : Number.POSITIVE_INFINITY)
}
