// Downloads the speech model that the operator wants, and the voice models of Hugging Face for diarization.

import { errorFields, log } from '../../base/log.ts'
import { reasonOf } from '../../base/reason.ts'
import { formatSize } from '../../base/units.ts'
import { type Hub, hubFrom } from '../../net/hub.ts'
import { pullModel, requiredModels } from './pull-model.ts'
import { hasGpu, type ModelSettings } from './serving.ts'
import { modelsDir } from './store.ts'

/**
 * Opens a mirror of the hub (Hugging Face's server of model files), which is tried before the hub. For a `steno
 * worker`, the mirror is its steno server.
 */
export type OpenMirror = () => Promise<Hub>

type Source = { onProgress: (message: string) => void; openMirror: OpenMirror | null }

/**
 * Downloads a speech model, unless it is built in. Then downloads the two voice models with which diarization tells the
 * speakers apart, unless they are installed. The hub (Hugging Face's server of model files) offers these models.
 */
export async function download(model: string, settings: ModelSettings, source: Source): Promise<void> {
  for (const id of requiredModels(model, modelsDir(settings))) {
    const done = downloadFromEither(id, settings, source)
    if (id === model) await done
    // If the download of a voice model fails, the error is only logged, because all jobs without diarization still
    // work.
    else await done.catch(error => log.error('model not downloaded', { model: id, ...errorFields(error) }))
  }
}

/**
 * Downloads a model from the mirror. If there is no mirror, or if this download fails, downloads the model from the hub
 * (Hugging Face).
 */
async function downloadFromEither(
  id: string,
  settings: ModelSettings,
  { onProgress, openMirror }: Source,
): Promise<void> {
  if (openMirror) {
    try {
      return await downloadWithProgress(id, { ...settings, offline: false }, await openMirror(), onProgress)
    } catch (error) {
      log.warn('model not on the server', { model: id, reason: reasonOf(error) })
    }
  }
  await downloadWithProgress(id, settings, hubFrom(process.env), onProgress)
}

async function downloadWithProgress(
  id: string,
  settings: ModelSettings,
  hub: Hub,
  onProgress: (message: string) => void,
): Promise<void> {
  let logged = -1
  await pullModel(id, {
    dir: modelsDir(settings),
    gpu: hasGpu(settings.device),
    offline: settings.offline,
    hub,
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
