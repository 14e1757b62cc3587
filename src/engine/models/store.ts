// The model store: what is known, what is here, and which model serves. A door of the engine.

import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { lockFile } from '../../base/file-lock.ts'
import { errorFields, log } from '../../base/log.ts'
import { formatSize } from '../../base/units.ts'
import type { Config } from '../../config.ts'
import { type Hub, hubFrom } from '../../net/hub.ts'
import { hasCuda, pocketModel } from '../onnx/library.ts'
import { isVoiceModel, models } from './catalogue.ts'
import { type Lock, lockName, lockPath, matches, pull } from './pull.ts'
import { missingVoiceModels, modelFile, type VoiceChoice, voicesFor } from './voices.ts'

export type ModelSettings = Pick<Config, 'model' | 'modelsDir' | 'dataDir' | 'device'>

export type ChosenModel = {
  folder: string
  name: string
  /** What tells voices apart. */
  voices: VoiceChoice
  /** What everyone should know of this choice; null when it is what was asked for. */
  notice: string | null
}

const small = [
  'config.json',
  'generation_config.json',
  'preprocessor_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
]
/** Halves for a GPU, eight bits or whole floats for a CPU; the other forms stay where they are. */
const variants = { gpu: ['_fp16'], cpu: ['_quantized'] }

export function modelsDir({ modelsDir, dataDir }: Pick<Config, 'modelsDir' | 'dataDir'>): string {
  return modelsDir ?? join(dataDir, 'models')
}

/** Turbo on a GPU, base on a CPU. */
export function defaultModel(device: Config['device']): string {
  return hasGpu(device) ? 'large-v3-turbo' : 'base'
}

export function hasGpu(device: Config['device']): boolean {
  return device === 'cuda' || device === 'webgpu' || (device === 'auto' && hasCuda())
}

/** The folder of a model that is on this machine, null when it is not. */
export function installedModel(
  model: string,
  settings: Pick<Config, 'modelsDir' | 'dataDir'>,
): string | null {
  if (model === 'pocket') return pocketModel()
  const folder = Object.hasOwn(models, model) ? join(modelsDir(settings), model) : resolve(model)
  return isModel(folder) ? folder : null
}

/** What tells voices apart when this model serves: the built-in one has its own, all others share theirs. */
export function voicesOf(model: string, settings: Pick<Config, 'modelsDir' | 'dataDir'>): VoiceChoice {
  const here = installedModel(model, settings)
  return voicesFor(here !== null && here === pocketModel() ? 'pocket' : model, modelsDir(settings))
}

/** The model that serves, fetched if it must be. Only when none was named does the built-in one step in. */
export async function prepareModel(
  settings: ModelSettings,
  onProgress: (message: string) => void,
): Promise<ChosenModel> {
  const { model, device } = settings
  if (model !== null) return namedModel(model, settings, onProgress)
  const id = defaultModel(device)
  try {
    return await namedModel(id, settings, onProgress)
  } catch (error) {
    const folder = pocketModel()
    if (folder === null) throw error
    log.error('model not fetched', { model: id, ...errorFields(error) })
    return {
      folder,
      name: 'pocket',
      voices: voicesOf('pocket', settings),
      notice: `The small built-in model is at work, because ${id} could not be fetched: good for a try, not for real speech`,
    }
  }
}

async function namedModel(
  model: string,
  settings: ModelSettings,
  onProgress: (message: string) => void,
): Promise<ChosenModel> {
  const dir = modelsDir(settings)
  const here = installedModel(model, settings)
  if (here !== null)
    return { folder: here, name: basename(model), voices: voicesOf(model, settings), notice: null }
  if (model === 'pocket') throw new Error('this build carries no pocket model')
  if (!recognisers().includes(model)) {
    throw new Error(`${model} is neither a known model (${recognisers().join(', ')}) nor a folder with one`)
  }
  let told = ''
  const bring = (id: string) =>
    pullModel(id, {
      dir,
      gpu: hasGpu(settings.device),
      hub: hubFrom(process.env),
      signal: new AbortController().signal,
      onProgress: (bytes, total) => {
        const message = `The model ${id} is being fetched: ${Math.floor((100 * bytes) / total)} % of ${formatSize(total)}`
        onProgress(message)
        // Every tenth is enough for a log.
        const tenth = message.replace(/\d %/, '0 %')
        if (tenth !== told) log.info('model being fetched', { model: id, bytes, total })
        told = tenth
      },
    })
  for (const id of pullsOf(model, dir)) {
    if (id === model) await bring(id)
    // Without the others there is still text; a job that asks for speakers is told what to do.
    else await bring(id).catch(error => log.error('model not fetched', { model: id, ...errorFields(error) }))
  }
  return { folder: join(dir, model), name: model, voices: voicesOf(model, settings), notice: null }
}

/** What a pull brings: the model, and with one that recognises speech what tells voices apart, unless it is here. */
export function pullsOf(id: string, dir: string): string[] {
  return isVoiceModel(id) ? [id] : [id, ...missingVoiceModels(dir)]
}

/** The names that STENO_MODEL may have. */
function recognisers(): string[] {
  return Object.keys(models).filter(id => !isVoiceModel(id))
}

/** Whether a known model is whole in this folder. */
function isHere(id: string, folder: string): boolean {
  return isVoiceModel(id) ? existsSync(modelFile(folder)) : isModel(folder)
}

/** A folder in Hugging Face layout that has all that recognition needs. */
export function isModel(folder: string): boolean {
  const onnx = join(folder, 'onnx')
  if (!existsSync(onnx)) return false
  const names = readdirSync(onnx)
  return (
    ['config.json', 'generation_config.json', 'tokenizer.json'].every(name =>
      existsSync(join(folder, name)),
    ) &&
    names.some(name => name.startsWith('encoder_model')) &&
    names.some(name => name.startsWith('decoder_model_merged'))
  )
}

export type PullOptions = {
  dir: string
  gpu: boolean
  hub: Hub
  signal: AbortSignal
  onProgress: (bytes: number, total: number) => void
}

export async function pullModel(
  id: string,
  { dir, gpu, hub, signal, onProgress }: PullOptions,
): Promise<Lock> {
  const known = models[id]
  if (!known) throw new Error(`there is no model ${id}; there are ${Object.keys(models).join(', ')}`)
  const forms = (gpu ? variants.gpu : variants.cpu).join('|')
  const parts = isVoiceModel(id)
    ? /^onnx\/model\.onnx(_data.*)?$/
    : new RegExp(`^onnx/(encoder_model|decoder_model_merged)(${forms})\\.onnx(_data.*)?$`)
  const { repository, revision } = known
  return pull({
    id,
    repository,
    revision,
    folder: join(dir, id),
    wants: path => small.includes(path) || parts.test(path),
    hub,
    signal,
    onProgress,
  })
}

export type Listed = {
  id: string
  parameters: string
  licence: string
  summary: string
  bytes: number | null
}

/** Every known model, with its size on disk when it is here. */
export function listModels(dir: string): Listed[] {
  return Object.entries(models).map(([id, { parameters, licence, summary }]) => ({
    id,
    parameters,
    licence,
    summary,
    bytes: isHere(id, join(dir, id)) ? bytesIn(join(dir, id)) : null,
  }))
}

/** Files of a model that are not what the hub gave; null when nothing says what they should be. */
export async function verifyModel(dir: string, id: string): Promise<string[] | null> {
  const lock = Bun.file(join(dir, id, lockName))
  if (!(await lock.exists())) return null
  const { files } = (await lock.json()) as Lock
  const checked = await Promise.all(
    files.map(async file => ((await matches(join(dir, id, file.path), file)) ? [] : [file.path])),
  )
  return checked.flat()
}

/** Whether there was anything to remove: of known models only, the rest of the folder is not ours. What a broken pull has left goes too. */
export function removeModel(dir: string, id: string): boolean {
  if (!Object.hasOwn(models, id) || !existsSync(dir)) return false
  const release = lockFile(lockPath(join(dir, id)))
  if (!release) throw new Error(`${id} is being fetched`)
  try {
    const names = readdirSync(dir).filter(
      name => name === id || (name.startsWith(`${id}.`) && name.endsWith('.part')),
    )
    for (const name of names) rmSync(join(dir, name), { recursive: true })
    rmSync(lockPath(join(dir, id)))
    return names.length > 0
  } finally {
    release()
  }
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(each => each.isFile())
    .reduce((sum, each) => sum + statSync(join(each.parentPath, each.name)).size, 0)
}
