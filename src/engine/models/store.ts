// The model store: a folder that contains one folder for each installed model. This file lists, downloads, verifies and
// removes models.

import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { findCarried } from '../../base/carried.ts'
import { nearest } from '../../base/edit-distance.ts'
import { lockFile } from '../../base/file-lock.ts'
import type { Config } from '../../config.ts'
import type { Hub } from '../../net/hub.ts'
import {
  type BuiltInModel,
  findBuiltIn,
  findPublished,
  isKnownModel,
  isVoiceModel,
  models,
  type PublishedModel,
} from './catalogue.ts'
import { compactFolderOf, faultOf, floatVariant, isCompact, isModel } from './layout.ts'
import { downloadModel, installedLock, lockPath, type ModelLock, matches } from './pull.ts'
import { isInstalledVoice, missingVoiceModels } from './voices.ts'

type StoreSettings = Pick<Config, 'modelsDir' | 'dataDir'>

const configFiles = [
  'config.json',
  'generation_config.json',
  'preprocessor_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
]

export function modelsDir({ modelsDir, dataDir }: StoreSettings): string {
  return modelsDir ?? join(dataDir, 'models')
}

export type InstalledModel = {
  /** The name of the model in the catalogue. For a model that is not in the catalogue, the name of its folder. */
  name: string
  folder: string
}

/**
 * Finds the folder of a model. `model` is the name of a built-in or installed model, or the path of a folder. Returns
 * null if there is no such folder. Does not check the content of the folder.
 */
export function findInstalled(model: string, settings: StoreSettings): InstalledModel | null {
  const builtIn = findBuiltIn(model)
  const folder = builtIn
    ? findCarried(builtIn.builtIn)
    : isKnownModel(model)
      ? join(modelsDir(settings), model)
      : resolve(model)
  return folder !== null && existsSync(folder) ? { name: nameOf(folder), folder } : null
}

/**
 * Returns the name of the built-in model in this folder. If the folder holds no built-in model, returns the name of the
 * folder.
 */
function nameOf(folder: string): string {
  const known = Object.keys(models).find(id => {
    const builtIn = findBuiltIn(id)
    return builtIn !== null && findCarried(builtIn.builtIn) === folder
  })
  return known ?? basename(folder)
}

/**
 * Returns the names of the models that `steno models pull` downloads for the model `id`. A built-in model is not
 * downloaded. A speech model also needs the voice models, so the list contains each voice model that is not installed.
 */
export function requiredModels(id: string, dir: string): string[] {
  const itself = findBuiltIn(id) ? [] : [id]
  return isVoiceModel(id) ? itself : [...itself, ...missingVoiceModels(dir)]
}

export type PullOptions = {
  dir: string
  gpu: boolean
  /** If true, downloads are forbidden, and `pullModel` throws an error. */
  offline: boolean
  hub: Hub
  signal: AbortSignal
  onProgress: (bytes: number, total: number) => void
  /** Called with the paths of the files that have changed on the hub since the model was installed. */
  onChange?: (paths: readonly string[]) => void
}

export async function pullModel(id: string, { dir, offline, ...options }: PullOptions): Promise<ModelLock> {
  const published = findPublished(id)
  if (published === null) {
    const known = Object.keys(models).filter(findPublished)
    throw new Error(`there is no model ${id} to pull; the nearest one is ${nearest(id, known)}`)
  }
  const folder = join(dir, id)
  if (offline)
    throw new Error(
      `STENO_OFFLINE forbids fetching ${id}: run steno models pull ${id} where there is a network, and copy its folder to ${folder}`,
    )
  const files = published.files?.[options.gpu ? 'gpu' : 'cpu']
  return downloadModel({
    ...options,
    ...published,
    id,
    folder,
    wants: (path, all) =>
      files?.includes(path) ?? (configFiles.includes(path) || weightsOf(id, options.gpu, all).test(path)),
    check: draft => {
      const fault = isVoiceModel(id) ? null : faultOf(draft)
      if (fault) throw new Error(`${published.repository} cannot be used: ${fault}`)
    },
  })
}

/**
 * Returns a pattern that matches the paths of the weight files to download. `all` holds the paths of all files in the
 * repository. A voice model uses fp32. A speech model uses fp16 on a GPU, and fp32 on a CPU, where the compact copy is
 * made from fp32. If the repository has only one of the two, both devices use it.
 */
function weightsOf(id: string, gpu: boolean, all: readonly string[]): RegExp {
  if (isVoiceModel(id)) return /^onnx\/model\.onnx(_data.*)?$/
  const [best, other] = gpu ? ['_fp16', ''] : ['', '_fp16']
  const has = (variant: string) => all.includes(`onnx/encoder_model${variant}.onnx`)
  const variant = !has(best) && has(other) ? other : best
  return new RegExp(`^onnx/(encoder_model|decoder_model_merged)${variant}\\.onnx(_data.*)?$`)
}

export type ModelListing = {
  id: string
  parameters: string
  licence: string
  summary: string
  builtIn: boolean
  /** The size of the model on disk, with its compact copy, in bytes. Null if the model is built in or not installed. */
  bytes: number | null
  /**
   * The form of the Whisper weights that a CPU uses: compact (8-bit weights) or float. Null for a model of another
   * kind, and for a model that is not installed.
   */
  form: 'compact' | 'float' | null
}

/** Lists all known models, except the models that only tests use. */
export function listModels(dir: string): ModelListing[] {
  return Object.entries<BuiltInModel | PublishedModel>(models)
    .filter(([, { forTests }]) => !forTests)
    .map(([id, { parameters, licence, summary }]) => {
      const builtIn = findBuiltIn(id) !== null
      const folder = join(dir, id)
      const isInstalled = isVoiceModel(id) ? isInstalledVoice(id, dir) : isModel(folder)
      const copy = compactFolderOf(folder, dir)
      const bytes = isInstalled && !builtIn ? bytesIn(folder) + bytesIn(copy) : null
      return { id, parameters, licence, summary, builtIn, bytes, form: formOf(builtIn ? null : folder, copy) }
    })
}

/**
 * Returns the form of a Whisper model's weights: compact or float. `folder` is null for a built-in model, whose weights
 * are in the compact form. `copy` is the folder of the compact copy. Returns null if the folder has no float weights.
 */
function formOf(folder: string | null, copy: string): ModelListing['form'] {
  if (folder === null || isCompact(copy)) return 'compact'
  return floatVariant(folder) === null ? null : 'float'
}

/**
 * Returns the paths of an installed model's files whose content has changed since the model was downloaded or its
 * compact copy was made. Returns null if the model's folder has no lock file.
 */
export async function verifyModel(dir: string, id: string): Promise<string[] | null> {
  const folder = join(dir, id)
  const lock = await installedLock(folder)
  if (lock === null) return null
  const copy = compactFolderOf(folder, dir)
  const copied = isCompact(copy) ? await installedLock(copy) : null
  return [...(await wrongFiles(folder, lock)), ...(copied ? await wrongFiles(copy, copied) : [])]
}

async function wrongFiles(folder: string, { files }: ModelLock): Promise<string[]> {
  const checked = await Promise.all(
    files.map(async file => ((await matches(join(folder, file.path), file)) ? [] : [file.path])),
  )
  return checked.flat()
}

/**
 * Finds a downloaded model by the name of its repository. Returns null if the model is not installed, or if its folder
 * has no lock file because it was copied by hand.
 */
export async function findDownloaded(
  dir: string,
  repository: string,
): Promise<{ folder: string; lock: ModelLock } | null> {
  const id = Object.keys(models).find(id => findPublished(id)?.repository === repository)
  const folder = join(dir, id ?? '')
  const lock = id === undefined ? null : await installedLock(folder)
  return lock && { folder, lock }
}

/**
 * Removes a known model, its compact copy and the drafts of its downloads. Returns false if there was nothing to
 * remove.
 */
export function removeModel(dir: string, id: string): boolean {
  if (!isKnownModel(id) || !existsSync(dir)) return false
  const release = lockFile(lockPath(join(dir, id)))
  if (!release) throw new Error(`${id} is being fetched`)
  try {
    const copy = basename(compactFolderOf(join(dir, id), dir))
    const names = readdirSync(dir).filter(
      name => name === id || name === copy || (name.startsWith(`${id}.`) && name.endsWith('.part')),
    )
    for (const name of names) rmSync(join(dir, name), { recursive: true })
    rmSync(lockPath(join(dir, id)))
    return names.length > 0
  } finally {
    release()
  }
}

function bytesIn(folder: string): number {
  if (!existsSync(folder)) return 0
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}
