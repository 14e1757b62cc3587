// Downloads a model of the catalogue: chooses its files for the device, and checks them.

import { join } from 'node:path'
import { nearest } from '../../base/edit-distance.ts'
import type { Hub } from '../../net/hub.ts'
import { findBuiltIn, findPublished, models } from './catalogue.ts'
import { faultOf } from './fault.ts'
import type { RemoteFile } from './fetch-file.ts'
import { missingVoiceFile, missingVoiceModels } from './installed-voices.ts'
import type { ModelLock } from './lock.ts'
import { downloadModel } from './pull.ts'
import { isVoiceModel } from './roles.ts'

const configFiles = [
  'config.json',
  'generation_config.json',
  'preprocessor_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
]

/**
 * Returns the models that `steno models pull` downloads for the model `id`. For a speech model, the list also contains
 * the voice models of Hugging Face that are not installed.
 */
export function requiredModels(id: string, dir: string): string[] {
  const itself = findBuiltIn(id) ? [] : [id]
  return isVoiceModel(id) ? itself : [...itself, ...missingVoiceModels(dir)]
}

export function pullableModels(): string[] {
  return Object.keys(models).filter(findPublished)
}

export type PullOptions = {
  dir: string
  gpu: boolean
  /** If true, downloads are forbidden, and `pullModel` throws an error. */
  offline: boolean
  hub: Hub
  signal: AbortSignal
  /** Waits before the next attempt to download a file (see fetch-file.ts). Only tests set it. */
  pause?: RemoteFile['pause']
  onProgress: (bytes: number, total: number) => void
  /**
   * Called with the paths of the files that differ from the installed files. They differ because files changed on the
   * hub, or because the device now needs other files.
   */
  onChange?: (paths: readonly string[]) => void
}

export async function pullModel(id: string, { dir, offline, ...options }: PullOptions): Promise<ModelLock> {
  const published = findPublished(id)
  if (published === null) {
    throw new Error(`there is no model ${id} to pull; the nearest one is ${nearest(id, pullableModels())}`)
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
      const fault = isVoiceModel(id) ? missingVoiceFile(id, draft) : faultOf(draft)
      if (fault) throw new Error(`${published.repository} cannot be used: ${fault}`)
    },
  })
}

/**
 * Returns a pattern for the paths of the weight files to download. `all` has all paths in the repository. Prefers fp16
 * for a GPU. Prefers fp32 for a CPU, because steno converts fp32 to 8 bits. A voice model is always downloaded in fp32.
 */
function weightsOf(id: string, gpu: boolean, all: readonly string[]): RegExp {
  if (isVoiceModel(id)) return /^onnx\/model\.onnx(_data.*)?$/
  const [best, other] = gpu ? ['_fp16', ''] : ['', '_fp16']
  const has = (variant: string) => all.includes(`onnx/encoder_model${variant}.onnx`)
  const variant = !has(best) && has(other) ? other : best
  return new RegExp(`^onnx/(encoder_model|decoder_model_merged)${variant}\\.onnx(_data.*)?$`)
}
