// The choice of the model that serves: the wanted one, downloaded if necessary, or the built-in one instead.

import { statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { nearest } from '../../base/edit-distance.ts'
import { errorFields, log } from '../../base/log.ts'
import { formatSize } from '../../base/units.ts'
import type { Config } from '../../config.ts'
import { hubFrom } from '../../net/hub.ts'
import { hasCuda, pocketModel } from '../onnx/library.ts'
import { isKnownModel, speechModelNames } from './catalogue.ts'
import { installedModel, modelsDir, pullModel, requiredModels, voicesOf } from './store.ts'
import type { VoiceChoice } from './voices.ts'

export type ModelSettings = Pick<Config, 'model' | 'modelsDir' | 'dataDir' | 'device'>

export type ChosenModel = {
  folder: string
  name: string
  voices: VoiceChoice
  /** What users must know of this choice; null when it is the wanted model. */
  notice: string | null
}

/** Turbo on a GPU, base on a CPU. */
export function defaultModel(device: Config['device']): 'large-v3-turbo' | 'base' {
  return hasGpu(device) ? 'large-v3-turbo' : 'base'
}

export function hasGpu(device: Config['device']): boolean {
  return device === 'cuda' || device === 'webgpu' || (device === 'auto' && hasCuda())
}

/** Downloads the wanted model if necessary. The built-in model replaces a default one that cannot be downloaded. */
export async function prepareModel(
  settings: ModelSettings,
  onProgress: (message: string) => void,
): Promise<ChosenModel> {
  const { model, device } = settings
  if (model !== null) return prepareNamed(model, settings, onProgress)
  const id = defaultModel(device)
  try {
    return await prepareNamed(id, settings, onProgress)
  } catch (error) {
    const folder = pocketModel()
    if (folder === null) throw error
    log.error('model not downloaded', { model: id, ...errorFields(error) })
    return {
      folder,
      name: 'pocket',
      voices: voicesOf('pocket', settings),
      notice: `The small built-in model is at work, because ${id} could not be fetched: good for a try, not for real speech`,
    }
  }
}

async function prepareNamed(
  model: string,
  settings: ModelSettings,
  onProgress: (message: string) => void,
): Promise<ChosenModel> {
  const folder = installedModel(model, settings)
  if (folder !== null)
    return { folder, name: basename(model), voices: voicesOf(model, settings), notice: null }
  if (model === 'pocket') throw new Error('this build carries no pocket model')
  requireModelName(model)
  if (!isKnownModel(model)) throw new Error(`${resolve(model)} is a folder without a model`)
  const dir = modelsDir(settings)
  for (const id of requiredModels(model, dir)) {
    const download = downloadWithProgress(id, settings, onProgress)
    if (id === model) await download
    // Jobs without speakers work without the voice models; a job that asks for speakers fails with the reason.
    else
      await download.catch(error => log.error('model not downloaded', { model: id, ...errorFields(error) }))
  }
  return { folder: join(dir, model), name: model, voices: voicesOf(model, settings), notice: null }
}

/** Throws, with the nearest name, when the model is neither a known speech model nor a folder. */
export function requireModelName(model: string): void {
  const known = ['pocket', ...speechModelNames()]
  if (known.includes(model) || statSync(model, { throwIfNoEntry: false })?.isDirectory()) return
  throw new Error(
    `STENO_MODEL=${model} is neither a known model nor a folder; the nearest known model is ${nearest(model, known)}`,
  )
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
