// Chooses the models for the engine among the installed models, and downloads nothing.

import type { Config } from '../../config.ts'
import { nvidiaGpus } from '../onnx/gpus.ts'
import { hasCuda } from '../onnx/library.ts'
import { findBuiltIn, findPublished } from './catalogue.ts'
import { faultOf } from './fault.ts'
import { framewiseKind } from './framewise-layout.ts'
import { isCompact } from './layout.ts'
import { requireModelName } from './model-name.ts'
import { automaticFast, builtInSpeech, fastSpeech, omnilingualSpeech, publishedVoices } from './roles.ts'
import { findInstalled, type InstalledModel, modelsDirOf } from './store.ts'
import { type VoiceChoice, voicesFor } from './voices.ts'

export type ModelSettings = Pick<Config, 'model' | 'modelsDir' | 'dataDir' | 'device' | 'offline'>

export type ChosenModel = InstalledModel & {
  /**
   * Further speech models, best first, for the languages that the first speech model (`name` and `folder`) does not
   * support.
   */
  others: InstalledModel[]
  /**
   * The model that detects the language. Null if a chosen speech model can detect the language itself. Otherwise, it is
   * the built-in model, or null if this model is missing.
   */
  detector: InstalledModel | null
  voices: VoiceChoice
  /**
   * A message for the operator if the built-in model is used because the default model is not installed. Otherwise
   * null.
   */
  notice: string | null
}

/** Returns the name of the default model: large-v3-turbo for a GPU, the built-in model for a CPU. */
export function defaultModel(device: Config['device']): 'large-v3-turbo' | typeof builtInSpeech {
  return hasGpu(device) ? 'large-v3-turbo' : builtInSpeech
}

export function hasGpu(device: Config['device']): boolean {
  return device === 'cuda' || device === 'webgpu' || (device === 'auto' && hasCuda())
}

/**
 * Returns the NVIDIA GPUs on which the configured model will run. Returns an empty list if no model will run with CUDA.
 */
export function gpusFor(settings: ModelSettings): string[] {
  const { device, model } = settings
  if (device === 'cpu' || device === 'webgpu' || !hasCuda()) return []
  // `wanted` is the name of the first speech model. Only this model decides whether the engine uses CUDA. The engine
  // uses further speech models only for languages that the first one does not support.
  const wanted = model === automaticFast ? fastSpeech : (model ?? defaultModel(device))
  const installed = findInstalled(wanted, settings)
  // If the model `wanted` is not installed, there are two cases. With STENO_MODEL (`model`), the program downloads it
  // before the engine starts, and it runs on the GPU. Without STENO_MODEL, the built-in model replaces it, and runs on
  // the CPU. An installed model runs on the GPU unless it is in the compact form, which runs only on a CPU.
  const runsOnGpu = installed === null ? model !== null : !isCompact(installed.folder)
  return runsOnGpu ? nvidiaGpus() : []
}

/**
 * Chooses the models for the engine among the installed models. Throws an error if the configured model is unknown or
 * not installed, or if the chosen model is damaged.
 */
export function findServing(settings: ModelSettings): ChosenModel {
  const { model } = settings
  if (model === null) return findDefault(settings)
  requireModelName(model)
  if (model !== automaticFast) return findChosen(model, settings)
  const { name, folder, others, notice } = findDefault(settings)
  return {
    ...findChosen(fastSpeech, settings),
    others: [{ name, folder }, ...others],
    detector: null,
    notice,
  }
}

/** Chooses the default model. If it is not installed, chooses the built-in model, with a notice for the operator. */
function findDefault(settings: ModelSettings): ChosenModel {
  const wanted = defaultModel(settings.device)
  if (findInstalled(wanted, settings)) return findChosen(wanted, settings)
  const notice = `${builtInSpeech} serves until ${wanted} is here: run steno models pull ${wanted}`
  return { ...findChosen(builtInSpeech, settings), notice }
}

function findChosen(model: string, settings: ModelSettings): ChosenModel {
  const installed = findInstalled(model, settings)
  if (installed === null) throw new Error(whyNotInstalled(model))
  const fault = faultOf(installed.folder)
  if (fault !== null) {
    const remedy = findPublished(model) ? `; run steno models pull ${model}` : ''
    throw new Error(`${model} cannot be used: ${fault}${remedy}`)
  }
  const isWhisper = framewiseKind(installed.folder) === null
  return {
    ...installed,
    others: isWhisper && !findBuiltIn(installed.name)?.forTests ? findOmnilingual(settings) : [],
    detector: isWhisper ? null : findInstalled(builtInSpeech, settings),
    voices: voicesFor(installed.name, modelsDirOf(publishedVoices.embedding, settings)),
    notice: null,
  }
}

/**
 * Returns a list with the best installed and undamaged model for languages that Whisper does not support. The list is
 * empty if there is no such model.
 */
function findOmnilingual(settings: ModelSettings): InstalledModel[] {
  const installed = omnilingualSpeech.map(id => findInstalled(id, settings))
  const usable = installed.filter(model => model !== null && faultOf(model.folder) === null)
  return usable.filter(model => model !== null).slice(0, 1)
}

function whyNotInstalled(model: string): string {
  if (findPublished(model)) return `${model} is not here: run steno models pull ${model}`
  return `this build carries no ${model}`
}
