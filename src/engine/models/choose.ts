// Chooses the speech models. If STENO_MODEL names a model of Hugging Face that is not installed or not usable,
// downloads the model. Without STENO_MODEL, downloads nothing.

import { unpackCarried } from '../../base/carried.ts'
import { findPublished } from './catalogue.ts'
import { withCompactCopy } from './compact-copy.ts'
import { download, type OpenMirror } from './download.ts'
import { framewiseKind } from './framewise-layout.ts'
import { runsOnCpu } from './layout.ts'
import { automaticFast, fastSpeech } from './roles.ts'
import { type ChosenModel, findServing, hasGpu, type ModelSettings } from './serving.ts'
import { findInstalled } from './store.ts'

/**
 * Unpacks the files that the program contains, and chooses the models for the engine. If the configured model is a
 * model of Hugging Face, downloads it first if it is not installed, or if its installed files cannot run on this
 * device. The engine may get several speech models, for different languages. For a CPU, replaces the first speech model
 * by its compact copy (8-bit weights). Does not replace a first model that has no float weights, is built in or is no
 * Whisper model. Does not replace it either if the copy cannot be made.
 */
export async function prepareModel(
  settings: ModelSettings,
  onProgress: (message: string) => void,
  openMirror: OpenMirror | null = null,
): Promise<ChosenModel> {
  await unpackCarried()
  const wanted = settings.model === automaticFast ? fastSpeech : settings.model
  if (wanted !== null && findPublished(wanted) && !isUsable(wanted, settings))
    await download(wanted, settings, { onProgress, openMirror })
  const chosen = findServing(settings)
  return hasGpu(settings.device) ? chosen : withCompactCopy(chosen, settings, onProgress)
}

/**
 * Returns true if the model is installed and usable. On a CPU, a Whisper model needs float weights or the compact form
 * (steno's own file of 8-bit weights). A download by an earlier version may have only other quantised weights, such as
 * the files `_quantized` of Hugging Face. steno does not run these weights on a CPU.
 */
function isUsable(model: string, settings: ModelSettings): boolean {
  const installed = findInstalled(model, settings)
  if (installed === null) return false
  if (hasGpu(settings.device) || framewiseKind(installed.folder) !== null) return true
  return runsOnCpu(installed.folder)
}
