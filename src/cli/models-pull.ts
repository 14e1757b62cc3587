import { join } from 'node:path'
import { formatCount, formatSize } from '../base/units.ts'
import type { Config } from '../config.ts'
import { withCompactCopy } from '../engine/models/compact-copy.ts'
import { pullableModels, pullModel, requiredModels } from '../engine/models/pull-model.ts'
import { isVoiceModel } from '../engine/models/roles.ts'
import { hasGpu } from '../engine/models/serving.ts'
import { modelsDir } from '../engine/models/store.ts'
import { hubFrom } from '../net/hub.ts'
import { need } from './arguments.ts'
import { barOf, openBar } from './bar.ts'
import { command } from './command.ts'
import { say } from './print.ts'
import { dataOption, type Flags, localConfig } from './settings.ts'
import { unwritableModels } from './unwritable.ts'

export const pull = command({
  usage: 'steno models pull ID',
  summary:
    'Download a model from the hub, or resume the download; with the voice models, if they are missing.',
  options: dataOption,
  suggested: pullableModels(),
  async run(positionals, values) {
    const [id] = need(positionals, 'ID')
    const required = requiredModels(id, modelsDir(localConfig(values)))
    if (required.length === 0) say(`${id} is built in`)
    for (const model of required) await pullOne(model, values)
  },
})

async function pullOne(id: string, flags: Flags): Promise<void> {
  const config = localConfig(flags)
  const dir = modelsDir(config)
  const bar = openBar()
  const lock = await pullModel(id, {
    dir,
    gpu: hasGpu(config.device),
    offline: config.offline,
    hub: hubFrom(process.env),
    signal: new AbortController().signal,
    onProgress: (bytes, total) =>
      bar.show(`${barOf(bytes / total)} ${id}: ${formatSize(bytes)} of ${formatSize(total)}`),
    onChange: paths => say(`${id}: files that differ from those of the last pull: ${paths.join(', ')}`),
  })
    .catch(error => {
      throw unwritableModels(error, dir)
    })
    .finally(() => bar.end())
  const bytes = lock.files.reduce((sum, file) => sum + file.size, 0)
  say(
    `${id}: ${formatCount(lock.files.length, 'file')}, ${formatSize(bytes)}, revision ${lock.revision.slice(0, 12)}`,
  )
  if (!hasGpu(config.device) && !isVoiceModel(id)) await compactOne(id, config)
}

/**
 * Makes the compact copy (8-bit weights) of a pulled Whisper model. Otherwise the first load of the model would make
 * it, and would take longer.
 */
async function compactOne(id: string, config: Config): Promise<void> {
  const bar = openBar()
  const pulled = { name: id, folder: join(modelsDir(config), id) }
  const { folder } = await withCompactCopy(pulled, config, message => bar.show(message)).finally(() =>
    bar.end(),
  )
  if (folder !== pulled.folder) say(`${id}: its compact form for the CPU is here`)
}
