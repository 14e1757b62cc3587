// Chooses the speech model. A published model that is configured by name is downloaded if necessary. The default
// model is not: the built-in model is used until the default one is installed.

import { statSync } from 'node:fs'
import { nearest } from '../../base/edit-distance.ts'
import { errorFields, log } from '../../base/log.ts'
import { formatSize } from '../../base/units.ts'
import type { Config } from '../../config.ts'
import { hubFrom } from '../../net/hub.ts'
import { hasCuda } from '../onnx/library.ts'
import { builtInSpeech, findPublished, speechModelNames } from './catalogue.ts'
import { faultOf } from './layout.ts'
import { findInstalled, type InstalledModel, modelsDir, pullModel, requiredModels } from './store.ts'
import { type VoiceChoice, voicesFor } from './voices.ts'

export type ModelSettings = Pick<Config, 'model' | 'modelsDir' | 'dataDir' | 'device' | 'offline'>

export type ChosenModel = InstalledModel & {
  voices: VoiceChoice
  /** A message for operators when the built-in model replaces the default one; otherwise null. */
  notice: string | null
}

/** Returns large-v3-turbo for a GPU and the built-in model for a CPU. */
export function defaultModel(device: Config['device']): 'large-v3-turbo' | typeof builtInSpeech {
  return hasGpu(device) ? 'large-v3-turbo' : builtInSpeech
}

export function hasGpu(device: Config['device']): boolean {
  return device === 'cuda' || device === 'webgpu' || (device === 'auto' && hasCuda())
}

/**
 * Chooses the model, after a download if the configured model is not installed. Without a configured model nothing is
 * downloaded.
 */
export async function prepareModel(
  settings: ModelSettings,
  onProgress: (message: string) => void,
): Promise<ChosenModel> {
  const { model } = settings
  if (model !== null && findPublished(model) && findInstalled(model, settings) === null)
    await download(model, settings, onProgress)
  return findServing(settings)
}

/**
 * Chooses the model among those that are installed, without a download. Throws when the configured model is not
 * installed.
 */
export function findServing(settings: ModelSettings): ChosenModel {
  const { model } = settings
  if (model === null) return findDefault(settings)
  requireModelName(model)
  return findChosen(model, settings)
}

/** Returns the default model, or the built-in one until the default one is installed. */
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
  return { ...installed, voices: voicesFor(installed.name, modelsDir(settings)), notice: null }
}

function whyNotInstalled(model: string): string {
  if (findPublished(model)) return `${model} is not here: run steno models pull ${model}`
  return `this build carries no ${model}`
}

/** Throws when the model is neither a known speech model nor a folder. The message contains the nearest known name. */
export function requireModelName(model: string): void {
  const known = speechModelNames()
  if (known.includes(model) || statSync(model, { throwIfNoEntry: false })?.isDirectory()) return
  throw new Error(
    `STENO_MODEL=${model} is neither a known model nor a folder; the nearest known model is ${nearest(model, known)}`,
  )
}

/** Downloads a model, and the voice models that are missing. */
async function download(
  model: string,
  settings: ModelSettings,
  onProgress: (message: string) => void,
): Promise<void> {
  for (const id of requiredModels(model, modelsDir(settings))) {
    const done = downloadWithProgress(id, settings, onProgress)
    if (id === model) await done
    // An error of a voice model is only logged, because only jobs with diarization need it.
    else await done.catch(error => log.error('model not downloaded', { model: id, ...errorFields(error) }))
  }
}

async function downloadWithProgress(
  id: string,
  settings: ModelSettings,
  onProgress: (message: string) => void,
): Promise<void> {
  let logged = -1
  await pullModel(id, {
    dir: modelsDir(settings),
    gpu: hasGpu(settings.device),
    offline: settings.offline,
    hub: hubFrom(process.env),
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
