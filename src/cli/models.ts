import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { formatSize } from '../base/units.ts'
import type { Config } from '../config.ts'
import { listModels, type ModelListing } from '../engine/models/listing.ts'
import { pullableModels } from '../engine/models/pull-model.ts'
import { removeModel } from '../engine/models/remove.ts'
import { modelsDirOf } from '../engine/models/store.ts'
import { faultOfInstalled, verifyModel } from '../engine/models/verify.ts'
import { need } from './arguments.ts'
import { command } from './command.ts'
import { print, say } from './print.ts'
import { dataOption, localConfig, recordOptions } from './settings.ts'
import { unwritableModels } from './unwritable.ts'

export const list = command({
  usage: 'steno models list [--json]',
  summary: 'Show every known model and the size of those that are installed.',
  options: recordOptions,
  async run(positionals, values) {
    need(positionals)
    const config = localConfig(values)
    const listed = listIn(config)
    print(values, listed, () => [
      row('model', 'parameters', 'on disk', '').trimEnd(),
      ...listed.map(({ id, parameters, summary, builtIn, bytes, form }) => {
        const size = builtIn ? 'built in' : bytes === null ? '-' : formatSize(bytes)
        return row(id, parameters, form === null ? size : `${size}, ${form}`, summary)
      }),
    ])
  },
})

function listIn(config: Config): ModelListing[] {
  return listModels(id => modelsDirOf(id, config))
}

function row(id: string, parameters: string, here: string, summary: string): string {
  return `${id.padEnd(26)} ${parameters.padEnd(11)} ${here.padEnd(17)} ${summary}`
}

export const verify = command({
  usage: 'steno models verify [ID]',
  summary: 'Check the files of one model, or of all that are installed.',
  options: dataOption,
  suggested: pullableModels(),
  async run(positionals, values) {
    const config = localConfig(values)
    const listed = listIn(config)
    const isHere = (id: string) => existsSync(join(modelsDirOf(id, config), id))
    const here = listed.filter(({ id, builtIn }) => !builtIn && isHere(id))
    const ids = positionals.length > 0 ? need(positionals, 'ID') : here.map(({ id }) => id)
    if (ids.length === 0) say('no model is installed; the built-in one is a part of the program')
    let damaged = 0
    for (const id of ids) {
      const model = listed.find(known => known.id === id)
      if (!model) throw new Error(`there is no model ${id}; steno models list shows all`)
      if (!model.builtIn && !isHere(id)) throw new Error(`${id} is not here; steno models list shows what is`)
      const { found, isDamaged } = model.builtIn ? builtIn : await checkFiles(modelsDirOf(id, config), id)
      say(`${id}: ${found}`)
      if (isDamaged) damaged++
    }
    if (damaged > 0)
      throw new Error('some models cannot be used as they are: remove them and pull them again')
  },
})

type Check = { found: string; isDamaged: boolean }

const builtIn: Check = { found: 'built in', isDamaged: false }

async function checkFiles(dir: string, id: string): Promise<Check> {
  const wrong = await verifyModel(dir, id)
  const isDamaged = wrong !== null && wrong.length > 0
  if (wrong !== null)
    return { found: isDamaged ? `not as published: ${wrong.join(', ')}` : 'good', isDamaged }
  const fault = faultOfInstalled(dir, id)
  return { found: fault ?? 'installed by hand, without hashes to check', isDamaged: fault !== null }
}

export const remove = command({
  usage: 'steno models remove ID',
  summary: 'Delete a model from this machine.',
  options: dataOption,
  suggested: pullableModels(),
  async run(positionals, values) {
    const [id] = need(positionals, 'ID')
    const config = localConfig(values)
    const known = listIn(config).find(model => model.id === id)
    if (known?.builtIn) throw new Error(`${id} is built in and cannot be removed`)
    if (!removeFrom(modelsDirOf(id, config), id)) throw new Error(`there is no model ${id} here`)
    say(`${id} removed`)
  },
})

function removeFrom(dir: string, id: string): boolean {
  try {
    return removeModel(dir, id)
  } catch (error) {
    throw unwritableModels(error, dir)
  }
}
