// Loads the engine's models on a device. With the device setting `auto`, the models run on the CPU if no GPU can be
// used. Speech models in the compact form (8-bit weights) always run on the CPU.

import { firstLineOf } from '../base/reason.ts'
import { devicesFor } from './devices.ts'
import type { SpeechModel } from './hear/speech-model.ts'
import { type LoadedModels, openModels } from './loaded-models.ts'
import { whyNoCuda } from './models/cuda-libraries.ts'
import { isCompact } from './models/layout.ts'
import type { InstalledModel } from './models/store.ts'
import type { VoiceChoice } from './models/voices.ts'
import { runtimeLibrary, vadModel } from './onnx/library.ts'
import { openRuntime, type Runtime } from './onnx/runtime.ts'
import type { Device } from './onnx/session.ts'
import type { LoadedFacts, Order } from './protocol.ts'
import { type OpenedSpeech, openSpeech } from './speech.ts'
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
  for (const candidate of devicesFor(device, folder)) {
    try {
      const why = candidate === 'cuda' ? whyNoCuda() : null
      if (why !== null) throw new Error(why)
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

type FurtherOptions = Pick<LoadOptions, 'others' | 'detector' | 'voices'> & {
  device: Device
  notes: string[]
}

/**
 * Opens all models except the first speech model. Throws an error if the model that detects speech (VAD) cannot be
 * opened. If another model cannot be opened, adds a message to `notes`, and the engine runs without this model.
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
 * Opens the voice models. If they cannot be opened, returns an error message, with which each job with diarization
 * fails.
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
