// The model store: a folder that contains one folder for each installed model.

import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { cacheDir, findCarried } from '../../base/carried.ts'
import type { Config } from '../../config.ts'
import { findBuiltIn, findPublished, isKnownModel, models } from './catalogue.ts'
import { installedLock, type ModelLock } from './lock.ts'

type StoreSettings = Pick<Config, 'modelsDir' | 'dataDir'>

/**
 * Returns the folder of the models: the folder that a setting names, or else `models` in the data folder. If there is no
 * such folder yet, but models were pulled into the user's cache folder before there was a data folder, returns the
 * folder there.
 */
export function modelsDir({ modelsDir, dataDir }: StoreSettings): string {
  if (modelsDir !== null) return modelsDir
  const [own, earlier] = [join(dataDir, 'models'), join(cacheDir(), 'models')]
  return !existsSync(own) && existsSync(earlier) ? earlier : own
}

export type InstalledModel = {
  /** The name of the model in the catalogue. For a model that is not in the catalogue, the name of its folder. */
  name: string
  folder: string
}

/**
 * Finds the folder of a model by its name or path. Returns null if there is no such folder. Does not check the content
 * of the folder.
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
 * Returns the name of a model by its folder: the id of the built-in model whose folder this is, or else the last part
 * of the path of the folder.
 */
function nameOf(folder: string): string {
  const known = Object.keys(models).find(id => {
    const builtIn = findBuiltIn(id)
    return builtIn !== null && findCarried(builtIn.builtIn) === folder
  })
  return known ?? basename(folder)
}

/**
 * Finds a downloaded model by the name of its repository. Returns null if the model is not installed, or if its folder
 * was copied by hand and has no file `steno-lock.json`.
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
