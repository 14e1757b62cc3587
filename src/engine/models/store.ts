// The model store: a folder that contains one folder for each installed model.

import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { findCacheDir, findCarried, hasSameCache } from '../../base/carried.ts'
import type { Config } from '../../config.ts'
import { findBuiltIn, findPublished, isKnownModel, models } from './catalogue.ts'
import { installedLock, type ModelLock } from './lock.ts'

type StoreSettings = Pick<Config, 'modelsDir' | 'dataDir'>

/** Returns the folder into which models are downloaded. */
export function modelsDir({ modelsDir, dataDir }: StoreSettings): string {
  return modelsDir ?? join(dataDir, 'models')
}

/**
 * Returns the folder that contains the folder of the model `id`. This is usually the result of the function
 * `modelsDir`. But a command that finds no data folder downloads models to the folder `models` in the user's cache
 * folder. If the model is only there, the result is that folder, so that the model need not be downloaded again. In two
 * cases, the result is always that of the function `modelsDir`:
 * - STENO_MODELS_DIR is set. All models are then in this folder.
 * - Another user owns the data folder. The service of that user has another cache folder, so it would not find the
 *   model in the cache folder of this user.
 */
export function modelsDirOf(id: string, settings: StoreSettings): string {
  const [own, cache] = [modelsDir(settings), findCacheDir()]
  if (settings.modelsDir !== null || cache === null || existsSync(join(own, id))) return own
  const earlier = join(cache, 'models')
  return existsSync(join(earlier, id)) && hasSameCache(own) ? earlier : own
}

export type InstalledModel = {
  /** The name of the model in the catalogue. For a model that is not in the catalogue, the name of its folder. */
  name: string
  folder: string
}

/**
 * Finds the folder of a model by its name or path. Returns null if there is none. Does not check the content of the
 * folder.
 */
export function findInstalled(model: string, settings: StoreSettings): InstalledModel | null {
  const builtIn = findBuiltIn(model)
  const folder = builtIn
    ? findCarried(builtIn.builtIn)
    : isKnownModel(model)
      ? join(modelsDirOf(model, settings), model)
      : resolve(model)
  return folder !== null && existsSync(folder) ? { name: nameOf(folder), folder } : null
}

/**
 * Returns the id of the built-in model in this folder. For any other model, returns the last part of the folder's path.
 */
function nameOf(folder: string): string {
  return Object.keys(models).find(id => isBuiltIn({ name: id, folder })) ?? basename(folder)
}

/**
 * Returns true if the program contains the model. Compares the folder too, because a folder of the operator may have
 * the name of a built-in model.
 */
export function isBuiltIn({ name, folder }: InstalledModel): boolean {
  const builtIn = findBuiltIn(name)
  return builtIn !== null && findCarried(builtIn.builtIn) === folder
}

/**
 * Finds a downloaded model by the name of its repository. Returns null if there is no such model, or if its folder has
 * no valid file `steno-lock.json`.
 */
export async function findDownloaded(
  settings: StoreSettings,
  repository: string,
): Promise<{ folder: string; lock: ModelLock } | null> {
  const id = Object.keys(models).find(id => findPublished(id)?.repository === repository)
  if (id === undefined) return null
  const folder = join(modelsDirOf(id, settings), id)
  const lock = await installedLock(folder)
  return lock && { folder, lock }
}
