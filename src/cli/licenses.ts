import { resolve } from 'node:path'
import { type Command, need } from './command.ts'

/** What a binary was built from; the build puts it here. */
declare const STENO_NOTICES: string | undefined

export const licenses: Command = {
  usage: 'steno licenses',
  summary: 'Print the licences of everything in it.',
  options: {},
  async run(positionals) {
    need(positionals)
    console.log(await notices())
  },
}

async function notices(): Promise<string> {
  if (typeof STENO_NOTICES === 'string') return STENO_NOTICES
  const { noticesOf } = await import('./notices.ts')
  return noticesOf(resolve(import.meta.dir, '../..'))
}
