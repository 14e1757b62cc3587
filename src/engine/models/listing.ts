// The list of known models, with the size of each installed model.

import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type BuiltInModel, findBuiltIn, models, type PublishedModel } from './catalogue.ts'
import { isInstalledVoice } from './installed-voices.ts'
import { compactFolderOf, floatVariant, isCompact, isModel } from './layout.ts'
import { isVoiceModel } from './roles.ts'

export type ModelListing = {
  id: string
  parameters: string
  licence: string
  summary: string
  builtIn: boolean
  /**
   * The size of the model on disk in bytes, including its compact copy (with 8-bit weights). Null if the model is built
   * in or not installed.
   */
  bytes: number | null
  /**
   * The form of the weights that a CPU uses: `compact` (8-bit weights) or `float`. Null for a model that is not a
   * Whisper model or is not on this machine, and for a model with neither compact nor float weights.
   */
  form: 'compact' | 'float' | null
}

/**
 * Lists all known models, except the models for tests. `dirOf` returns the folder that contains the model's folder.
 */
export function listModels(dirOf: (id: string) => string): ModelListing[] {
  return Object.entries<BuiltInModel | PublishedModel>(models)
    .filter(([, { forTests }]) => !forTests)
    .map(([id, { parameters, licence, summary }]) => {
      const builtIn = findBuiltIn(id) !== null
      const dir = dirOf(id)
      const folder = join(dir, id)
      const isVoice = isVoiceModel(id)
      const isInstalled = isVoice ? isInstalledVoice(id, dir) : isModel(folder)
      const copy = compactFolderOf(folder, dir)
      const bytes = isInstalled && !builtIn ? bytesIn(folder) + bytesIn(copy) : null
      const hasForm = !isVoice && (isInstalled || builtIn)
      const form = hasForm ? formOf(builtIn ? null : folder, copy) : null
      return { id, parameters, licence, summary, builtIn, bytes, form }
    })
}

/**
 * Returns the form of a Whisper model's weights, or null if the model has neither compact (8-bit) nor float weights.
 * `folder` is null for a built-in model, whose weights are compact. `copy` is the folder for the compact copy of float
 * weights. This folder need not exist.
 */
function formOf(folder: string | null, copy: string): ModelListing['form'] {
  if (folder === null || isCompact(folder) || isCompact(copy)) return 'compact'
  return floatVariant(folder) === null ? null : 'float'
}

function bytesIn(folder: string): number {
  if (!existsSync(folder)) return 0
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}
