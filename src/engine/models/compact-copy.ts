// Compact copies of Whisper models: model folders whose weights steno has converted to 8 bits. A CPU runs the copy in
// place of the float weights, because the copy needs less time and memory. Hugging Face has other 8-bit weights for
// these models. Steno does not run those on a CPU, because they make more errors: for Whisper base 16.0 % word errors,
// and 13.5 % with steno's 8-bit weights (see docs/decisions.md).

import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { removeOldDrafts } from '../../base/draft-names.ts'
import { inheritOwner } from '../../base/inherit-owner.ts'
import { log } from '../../base/log.ts'
import { reasonOf } from '../../base/reason.ts'
import { Draft } from '../../base/whole-file.ts'
import type { Config } from '../../config.ts'
import { limits } from '../../limits.ts'
import { ask } from '../ask.ts'
import { compactFile } from '../network/compact.ts'
import { headSize } from '../network/layers.ts'
import { type FloatVariant, safetensorsFile } from '../network/source.ts'
import { faultOf } from './fault.ts'
import { framewiseKind } from './framewise-layout.ts'
import { compactFolderOf, floatVariant, isCompact, jsonFiles, weightFiles } from './layout.ts'
import { installedLock, lockName, type ModelLock } from './lock.ts'
import { type InstalledModel, isBuiltIn, modelsDirOf } from './store.ts'

export type CopySettings = Pick<Config, 'modelsDir' | 'dataDir'>

/**
 * Returns the model with the folder of its compact copy (8-bit weights). First makes the copy if it is missing,
 * outdated or damaged. Returns the model unchanged if it needs no copy, if it has no float weights, or if the copy
 * cannot be made.
 */
export async function withCompactCopy<Model extends InstalledModel>(
  model: Model,
  settings: CopySettings,
  onProgress: (message: string) => void,
): Promise<Model> {
  const { name, folder } = model
  const variant = isCompact(folder) || framewiseKind(folder) !== null ? null : floatVariant(folder)
  if (variant === null || isBuiltIn(model)) return model
  const copy = compactFolderOf(folder, modelsDirOf(basename(folder), settings))
  try {
    requireHeadSize(folder)
    const revision = await revisionOf(folder, variant)
    if ((await installedLock(copy))?.revision !== revision || faultOf(copy) !== null) {
      onProgress(`The compact form of ${name} is being made.`)
      await makeCopy({ folder, variant, dataDir: settings.dataDir }, copy, revision)
      log.info('compact form made', { model: name, folder: copy })
    }
    return { ...model, folder: copy }
  } catch (error) {
    log.warn('compact form not made', { model: name, reason: reasonOf(error) })
    return model
  }
}

/** Throws an error if the attention heads of a Whisper model do not have the only size that the compact form supports. */
function requireHeadSize(folder: string): void {
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'))
  for (const half of ['encoder', 'decoder']) {
    const size = config.d_model / config[`${half}_attention_heads`]
    if (size !== headSize)
      throw new Error(`the attention heads of its ${half} have the size ${size} instead of ${headSize}`)
  }
}

/**
 * The version of the compact form (8-bit weights). If this number is increased, all existing compact copies are made
 * again.
 */
const formVersion = 1

/**
 * Returns a hash that identifies the files of the model and the version of the compact form (8-bit weights). The files
 * are identified by their sizes and by the hashes in `steno-lock.json`. Without this file, modification times are used
 * in place of the hashes.
 */
async function revisionOf(folder: string, variant: FloatVariant): Promise<string> {
  const lock = await installedLock(folder)
  const named = [...jsonFiles, safetensorsFile].map(name => join(folder, name))
  const paths = [...named.filter(existsSync), ...weightFiles(folder, variant)]
  const files = paths.map(path => {
    const { size, mtimeMs } = statSync(path)
    return [basename(path), size, lock === null ? mtimeMs : null]
  })
  return createHash('sha256')
    .update(JSON.stringify([formVersion, variant, files, lock?.files]))
    .digest('hex')
}

type Origin = { folder: string; variant: FloatVariant; dataDir: string }

async function makeCopy(origin: Origin, copy: string, revision: string): Promise<void> {
  using draft = new Draft(copy)
  mkdirSync(draft.path, { recursive: true })
  removeOldDrafts(dirname(copy))
  const signal = AbortSignal.timeout(limits.compactCopyMs)
  const report = await ask({ kind: 'compact', parent: process.pid, ...origin, draft: draft.path }, signal)
  if (report?.kind === 'notCompacted') throw new Error(report.message)
  if (report?.kind !== 'compacted') throw new Error('the process that makes it ended')
  for (const name of jsonFiles) copyFileSync(join(origin.folder, name), join(draft.path, name))
  const { size } = statSync(join(draft.path, compactFile))
  const files = [{ path: compactFile, size, hash: { kind: 'sha256', value: report.sha256 } as const }]
  const lock: ModelLock = { id: basename(origin.folder), repository: '', revision, files }
  await Bun.write(join(draft.path, lockName), `${JSON.stringify(lock, null, 2)}\n`)
  const fault = faultOf(draft.path)
  if (fault !== null) throw new Error(fault)
  inheritOwner(dirname(copy))
  draft.replace()
}
