import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { formatSize } from '../base/units.ts'
import type { Config } from '../config.ts'
import { withCompactCopy } from '../engine/models/compact-copy.ts'
import { listModels } from '../engine/models/listing.ts'
import { pullModel, requiredModels } from '../engine/models/pull-model.ts'
import { removeModel } from '../engine/models/remove.ts'
import { isVoiceModel } from '../engine/models/roles.ts'
import { hasGpu } from '../engine/models/serving.ts'
import { modelsDir } from '../engine/models/store.ts'
import { verifyModel } from '../engine/models/verify.ts'
import { hubFrom } from '../net/hub.ts'
import { barOf, openBar } from './bar.ts'
import { command, jsonOption, need, print, say } from './command.ts'
import { dataOption, type Flags, localConfig } from './settings.ts'

export const list = command({
  usage: 'steno models list [--json]',
  summary: 'Show every known model and the size of those that are installed.',
  options: { ...jsonOption, ...dataOption },
  async run(positionals, values) {
    need(positionals)
    const listed = listModels(modelsDir(localConfig(values)))
    print(values, listed, () =>
      listed.map(({ id, parameters, summary, builtIn, bytes, form }) => {
        const size = builtIn ? 'built in' : bytes === null ? '-' : formatSize(bytes)
        const here = form === null ? size : `${size}, ${form}`
        return `${id.padEnd(24)} ${parameters.padEnd(6)} ${here.padEnd(17)} ${summary}`
      }),
    )
  },
})

export const pull = command({
  usage: 'steno models pull ID',
  summary:
    'Download a model from the hub, or resume the download; with the voice models, if they are missing.',
  options: dataOption,
  async run(positionals, values) {
    const [id] = need(positionals, 'ID')
    const required = requiredModels(id, modelsDir(localConfig(values)))
    if (required.length === 0) say(`${id} is built in`)
    for (const model of required) await pullOne(model, values)
  },
})

async function pullOne(id: string, flags: Flags): Promise<void> {
  const config = localConfig(flags)
  const bar = openBar()
  const lock = await pullModel(id, {
    dir: modelsDir(config),
    gpu: hasGpu(config.device),
    offline: config.offline,
    hub: hubFrom(process.env),
    signal: new AbortController().signal,
    onProgress: (bytes, total) =>
      bar.show(`${barOf(bytes / total)} ${id}: ${formatSize(bytes)} of ${formatSize(total)}`),
    onChange: paths => say(`${id}: the hub has changed since the last pull: ${paths.join(', ')}`),
  }).finally(() => bar.end())
  const bytes = lock.files.reduce((sum, file) => sum + file.size, 0)
  say(`${id}: ${lock.files.length} files, ${formatSize(bytes)}, revision ${lock.revision.slice(0, 12)}`)
  if (!hasGpu(config.device) && !isVoiceModel(id)) await compactOne(id, config)
}

/**
 * Makes the copy of a pulled Whisper model in compact form. Without this function, the first load of the model makes
 * this copy.
 */
async function compactOne(id: string, config: Config): Promise<void> {
  const bar = openBar()
  const pulled = { name: id, folder: join(modelsDir(config), id) }
  const { folder } = await withCompactCopy(pulled, config, message => bar.show(message)).finally(() =>
    bar.end(),
  )
  if (folder !== pulled.folder) say(`${id}: its compact form for the CPU is here`)
}

export const verify = command({
  usage: 'steno models verify [ID]',
  summary: 'Check the files of one model, or of all that are installed.',
  options: dataOption,
  async run(positionals, values) {
    const dir = modelsDir(localConfig(values))
    const here = listModels(dir).filter(({ bytes }) => bytes !== null)
    const ids = positionals.length > 0 ? need(positionals, 'ID') : here.map(({ id }) => id)
    if (ids.length === 0) say('no model is installed; the built-in one is a part of the program')
    let broken = 0
    for (const id of ids) {
      const known = listModels(dir).find(model => model.id === id)
      if (known?.builtIn) {
        say(`${id}: built in`)
        continue
      }
      if (!existsSync(join(dir, id))) throw new Error(`${id} is not here; steno models list shows what is`)
      const wrong = await verifyModel(dir, id)
      if (wrong === null) say(`${id}: installed by hand, without hashes to check`)
      else if (wrong.length === 0) say(`${id}: good`)
      else say(`${id}: not as published: ${wrong.join(', ')}`)
      broken += wrong?.length ?? 0
    }
    if (broken > 0) throw new Error('some files are not as published: remove the model and pull it again')
  },
})

export const remove = command({
  usage: 'steno models remove ID',
  summary: 'Delete a model from this machine.',
  options: dataOption,
  async run(positionals, values) {
    const [id] = need(positionals, 'ID')
    if (!removeModel(modelsDir(localConfig(values)), id)) throw new Error(`there is no model ${id} here`)
    say(`${id} removed`)
  },
})
