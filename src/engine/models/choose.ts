// Chooses the speech models. If the setting STENO_MODEL names a published model that is not installed, downloads it.
// The default model is never downloaded automatically: until the operator installs it, the built-in model is used.

import { statSync } from 'node:fs'
import { nearest } from '../../base/edit-distance.ts'
import { errorFields, log } from '../../base/log.ts'
import { reasonOf } from '../../base/reason.ts'
import { formatSize } from '../../base/units.ts'
import type { Config } from '../../config.ts'
import { type Hub, hubFrom } from '../../net/hub.ts'
import { hasCuda } from '../onnx/library.ts'
import {
  automaticFast,
  builtInSpeech,
  fastSpeech,
  findBuiltIn,
  findPublished,
  omnilingualSpeech,
  speechModelNames,
} from './catalogue.ts'
import { withCompactCopy } from './compact-copy.ts'
import { framewiseKind } from './framewise-layout.ts'
import { faultOf, runsOnCpu } from './layout.ts'
import { findInstalled, type InstalledModel, modelsDir, pullModel, requiredModels } from './store.ts'
import { type VoiceChoice, voicesFor } from './voices.ts'

export type ModelSettings = Pick<Config, 'model' | 'modelsDir' | 'dataDir' | 'device' | 'offline'>

export type ChosenModel = InstalledModel & {
  /** The speech models for languages that the first model does not support, best first. */
  others: InstalledModel[]
  /**
   * The model that detects the language for speech models that cannot detect it. Null if another chosen model detects
   * languages, or if no such model is installed.
   */
  detector: InstalledModel | null
  voices: VoiceChoice
  /**
   * A message for the operator when the built-in model is used because the default model is not installed. Otherwise
   * null.
   */
  notice: string | null
}

/**
 * Opens a mirror of the hub, which is Hugging Face's server of model files. Model files are requested from the mirror
 * first, and then from the hub. A `steno worker` uses its server as the mirror, because the server offers its own
 * models.
 */
export type OpenMirror = () => Promise<Hub>

/** Returns the name of the default model: large-v3-turbo for a GPU, the built-in model for a CPU. */
export function defaultModel(device: Config['device']): 'large-v3-turbo' | typeof builtInSpeech {
  return hasGpu(device) ? 'large-v3-turbo' : builtInSpeech
}

export function hasGpu(device: Config['device']): boolean {
  return device === 'cuda' || device === 'webgpu' || (device === 'auto' && hasCuda())
}

/**
 * Chooses the models for the engine. If the configured model is not installed, downloads it first. If no model is
 * configured, downloads nothing.
 */
export async function prepareModel(
  settings: ModelSettings,
  onProgress: (message: string) => void,
  openMirror: OpenMirror | null = null,
): Promise<ChosenModel> {
  const wanted = settings.model === automaticFast ? fastSpeech : settings.model
  if (wanted !== null && findPublished(wanted) && !isUsable(wanted, settings))
    await download(wanted, settings, { onProgress, openMirror })
  const chosen = findServing(settings)
  return hasGpu(settings.device) ? chosen : withCompactCopy(chosen, settings, onProgress)
}

/**
 * Returns true if the model is installed and runs well on the device. Earlier versions of steno downloaded Whisper
 * files that a CPU runs badly; for such files, returns false.
 */
function isUsable(model: string, settings: ModelSettings): boolean {
  const installed = findInstalled(model, settings)
  if (installed === null) return false
  if (hasGpu(settings.device) || framewiseKind(installed.folder) !== null) return true
  return runsOnCpu(installed.folder)
}

/**
 * Chooses among the installed models, and downloads nothing. Throws an error if the configured model is not installed.
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

/**
 * Chooses the default model if it is installed. Otherwise chooses the built-in model, with a notice for the operator.
 */
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
    voices: voicesFor(installed.name, modelsDir(settings)),
    notice: null,
  }
}

/**
 * Returns a list with the best installed model for languages that Whisper does not support. The list is empty if no
 * such model is installed.
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

/** Throws an error if the setting STENO_MODEL is neither the name of a known speech model nor the path of a folder. */
export function requireModelName(model: string): void {
  const unknown = whyUnknown(model)
  if (unknown !== null) throw new Error(`STENO_MODEL=${unknown}`)
}

/**
 * Returns null if `model` is the name of a known speech model or the path of a folder. Otherwise returns an error
 * message, which suggests the most similar known name.
 */
export function whyUnknown(model: string): string | null {
  const known = speechModelNames()
  if (known.includes(model) || statSync(model, { throwIfNoEntry: false })?.isDirectory()) return null
  return `${model} is neither a known model nor a folder; the nearest known model is ${nearest(model, known)}`
}

type Source = { onProgress: (message: string) => void; openMirror: OpenMirror | null }

/** Downloads a speech model, and also the voice models that are not installed. */
async function download(model: string, settings: ModelSettings, source: Source): Promise<void> {
  for (const id of requiredModels(model, modelsDir(settings))) {
    const done = downloadFromEither(id, settings, source)
    if (id === model) await done
    // This is a voice model. If its download fails, the error is only logged, because only jobs with diarization need
    // the model.
    else await done.catch(error => log.error('model not downloaded', { model: id, ...errorFields(error) }))
  }
}

/** Downloads a model from the mirror, or from the hub if the mirror does not have the model. */
async function downloadFromEither(
  id: string,
  settings: ModelSettings,
  { onProgress, openMirror }: Source,
): Promise<void> {
  if (openMirror) {
    try {
      return await downloadWithProgress(id, { ...settings, offline: false }, await openMirror(), onProgress)
    } catch (error) {
      log.warn('model not on the server', { model: id, reason: reasonOf(error) })
    }
  }
  await downloadWithProgress(id, settings, hubFrom(process.env), onProgress)
}

async function downloadWithProgress(
  id: string,
  settings: ModelSettings,
  hub: Hub,
  onProgress: (message: string) => void,
): Promise<void> {
  let logged = -1
  await pullModel(id, {
    dir: modelsDir(settings),
    gpu: hasGpu(settings.device),
    offline: settings.offline,
    hub,
    signal: new AbortController().signal,
    onProgress: (bytes, total) => {
      const percent = Math.floor((100 * bytes) / total)
      onProgress(`The model ${id} is being fetched: ${percent} % of ${formatSize(total)}`)
      const tenth = Math.floor(percent / 10)
      if (tenth !== logged) log.info('downloading model', { model: id, bytes, total })
      logged = tenth
    },
  })
}
