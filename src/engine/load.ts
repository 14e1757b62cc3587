// Loads the engine's models on a device, and returns the models with the name of the device. If the setting is `auto`
// and no GPU can be used, the models are loaded on the CPU.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { firstLineOf } from '../base/reason.ts'
import { formatSize } from '../base/units.ts'
import type { Config } from '../config.ts'
import { openCtc } from './framewise/ctc.ts'
import { openTdt } from './framewise/tdt.ts'
import type { SpeechModel } from './hear/speech-model.ts'
import { openWhisper, type Variant } from './hear/whisper.ts'
import { whisperModel } from './hear/whisper-model.ts'
import { framewiseKind, framewiseWeights } from './models/framewise-layout.ts'
import { isCompact, weightFiles } from './models/layout.ts'
import type { InstalledModel } from './models/store.ts'
import type { VoiceChoice } from './models/voices.ts'
import { hasCuda, runtimeLibrary, vadModel } from './onnx/library.ts'
import { openRuntime, type Runtime } from './onnx/runtime.ts'
import type { Device } from './onnx/session.ts'
import type { LoadedFacts, Order } from './protocol.ts'
import { type LoadedModels, openModels } from './transcribe.ts'
import { openVoices } from './who/voices.ts'

export type LoadedEngine = { models: LoadedModels; facts: LoadedFacts }

type LoadOptions = Omit<
  Extract<Order, { kind: 'load' }>,
  'kind' | 'parent' | 'dataDir' | 'durationMsMax' | 'mediaProgram'
>

export async function openModel({
  name,
  folder,
  device,
  threads,
  ...further
}: LoadOptions): Promise<LoadedEngine> {
  const runtime = openRuntime(runtimeLibrary(), threads)
  const notes: string[] = []
  if (isCompact(folder) && device !== 'cpu' && device !== 'auto')
    notes.push(`weights in the compact form run on the CPU, not on ${device}`)
  const devices = isCompact(folder) ? (['cpu'] as const) : candidates(device)
  for (const candidate of devices) {
    try {
      const first = await openSpeech(runtime, { name, folder }, { device: candidate, notes })
      return await openFurther(runtime, first, { ...further, device: candidate, notes })
    } catch (error) {
      const cause = firstLineOf(error)
      if (candidate === 'cpu' || device !== 'auto')
        throw new Error([...notes, `${candidate}: ${cause}`].join('; '))
      notes.push(`${candidate} cannot be used: ${cause}`)
    }
  }
  throw new Error('there is no device to run on')
}

type OpenedSpeech = { model: SpeechModel; variant: string }

/** Opens a speech model of any kind. A model in the compact form (8-bit weights) is always opened on the CPU. */
async function openSpeech(
  runtime: Runtime,
  { name, folder }: InstalledModel,
  { device, notes }: { device: Device; notes: string[] },
): Promise<OpenedSpeech> {
  const kind = framewiseKind(folder)
  if (kind !== null) {
    const files = framewiseWeights(folder, kind, device !== 'cpu')
    requireMemory(files)
    const open = kind === 'ctc' ? openCtc : openTdt
    const variant = files.some(path => path.endsWith('.int8.onnx')) ? 'int8' : 'fp32'
    return { model: await open(runtime, { name, folder }, device), variant }
  }
  const compact = isCompact(folder)
  const variant = compact ? 'compact' : variantFor(folder, device)
  requireMemory(weightFiles(folder, variant))
  const whisper = await openWhisper(runtime, folder, { device: compact ? 'cpu' : device, variant, notes })
  return { model: whisperModel(runtime, name, whisper), variant: variant.replace('_', '') || 'fp32' }
}

type FurtherOptions = Pick<LoadOptions, 'others' | 'detector' | 'voices'> & {
  device: Device
  notes: string[]
}

/**
 * Opens all models except the first speech model, which is open already. If one of these models cannot be opened, the
 * engine runs without it, and `notes` gets a message for the log.
 */
async function openFurther(
  runtime: Runtime,
  first: OpenedSpeech,
  { others, detector, voices, device, notes }: FurtherOptions,
): Promise<LoadedEngine> {
  const openOrNote = async (installed: InstalledModel) => {
    try {
      return (await openSpeech(runtime, installed, { device, notes })).model
    } catch (error) {
      notes.push(`the model ${installed.name} cannot be loaded: ${firstLineOf(error)}`)
      return null
    }
  }
  const speech: [SpeechModel, ...SpeechModel[]] = [first.model]
  for (const other of others) {
    const model = await openOrNote(other)
    if (model) speech.push(model)
  }
  const detecting = speech.find(({ detect }) => detect !== null) ?? (detector && (await openOrNote(detector)))
  const openedVoices = openVoicesFor(runtime, voices, { device, notes })
  const models = openModels(runtime, speech, await Bun.file(vadModel()).bytes(), openedVoices, detecting)
  return {
    models,
    facts: {
      device,
      variant: first.variant,
      runtime: runtime.version,
      translates: speech.some(({ translates }) => translates),
      languages: [...new Set(speech.flatMap(({ languages }) => languages))],
      diarization: 'problem' in models.voices ? models.voices.problem : 'ready',
      notes,
    },
  }
}

/**
 * Opens the voice models. If they cannot be opened, returns the error message for jobs with diarization. Jobs without
 * diarization still succeed.
 */
function openVoicesFor(
  runtime: Runtime,
  voices: VoiceChoice,
  { device, notes }: { device: Device; notes: string[] },
): LoadedModels['voices'] {
  if ('problem' in voices) return voices
  try {
    return openVoices(runtime, voices, device === 'cuda' ? 'cuda' : 'cpu')
  } catch (error) {
    notes.push(`the voice models cannot be loaded: ${firstLineOf(error)}`)
    return {
      problem:
        'The models for telling speakers apart cannot be loaded; the log says why when the service starts',
    }
  }
}

/**
 * Returns the devices to try, in order. For `auto`, CUDA is tried only if the CUDA provider is installed, because an
 * attempt without the provider takes a second and logs a warning.
 */
function candidates(device: Config['device']): Device[] {
  if (device !== 'auto') return [device]
  return hasCuda() ? ['cuda', 'cpu'] : ['cpu']
}

/**
 * The variants of published weights that each device can load, best first. `''` is fp32. For a CPU, the list has only
 * fp32: a CPU computes fp16 four times as slowly, and the published 8-bit files lose words.
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
  const reason = device === 'cpu' ? '; on a CPU, 16-bit files are slow and quantised files lose words' : ''
  throw new Error(
    `${join(folder, 'onnx')} has no ${wanted}: run steno models pull with STENO_DEVICE=${device}, or put these files there${reason}`,
  )
}

/**
 * Throws an error if the weight files are larger than the available memory. Without this check, the kernel would kill
 * the process while the process loads the files.
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
