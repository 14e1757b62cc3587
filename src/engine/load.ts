// Loads a model folder on the requested device, or on the next best, and reports which.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { firstLineOf } from '../base/reason.ts'
import type { Config } from '../config.ts'
import { openWhisper, type Variant, type Whisper } from './hear/whisper.ts'
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
  for (const candidate of candidates(device)) {
    const variant = variantFor(folder, candidate)
    let whisper: Whisper
    try {
      whisper = await openWhisper(runtime, folder, { device: candidate, variant })
    } catch (error) {
      const cause = firstLineOf(error)
      if (candidate === 'cpu' || device !== 'auto') throw new Error(`${candidate}: ${cause}`)
      notes.push(`${candidate} cannot be used: ${cause}`)
      continue
    }
    const models = openModels(
      runtime,
      whisper,
      await Bun.file(vadModel()).bytes(),
      openVoicesFor(runtime, voices, candidate),
    )
    return {
      models,
      facts: {
        device: candidate,
        variant: variant.slice(1) || 'fp32',
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
function openVoicesFor(runtime: Runtime, voices: VoiceChoice, device: Device): LoadedModels['voices'] {
  if ('problem' in voices) return voices
  try {
    if (device !== 'cuda') return openVoices(runtime, voices)
    // A GPU is fast enough for an embedding of every view and of all its speech.
    const profile = { ...voices.profile, every: 1, embeddingSecondsMax: 10 }
    return openVoices(runtime, { ...voices, profile }, device)
  } catch (error) {
    const cause = firstLineOf(error)
    return { problem: `The models for telling speakers apart cannot be loaded: ${cause}` }
  }
}

/** `auto` tries a GPU only where its provider library is: without the library the attempt costs a second and a warning. */
function candidates(device: Config['device']): Device[] {
  if (device !== 'auto') return [device]
  return hasCuda() ? ['cuda', 'cpu'] : ['cpu']
}

/** Best first. On a CPU fp16 is slower than fp32. */
const preferences: Record<Device, Variant[]> = {
  cpu: ['_quantized', '', '_fp16'],
  cuda: ['_fp16', '', '_quantized'],
  webgpu: ['_fp16', '', '_quantized'],
}

export function variantFor(folder: string, device: Device): Variant {
  const found = preferences[device].find(variant =>
    ['encoder_model', 'decoder_model_merged'].every(name =>
      existsSync(join(folder, 'onnx', `${name}${variant}.onnx`)),
    ),
  )
  if (found === undefined)
    throw new Error('the model folder has no encoder_model and decoder_model_merged of one variant')
  return found
}
