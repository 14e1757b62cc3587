import { resolve } from 'node:path'
import { need } from './arguments.ts'
import { command } from './command.ts'
import { say } from './print.ts'

/** The licence notices of everything in the built program, defined by scripts/build.ts. Undefined in a checkout. */
declare const STENO_NOTICES: string | undefined

export const licenses = command({
  usage: 'steno licenses',
  summary: 'Print the licences of everything in this program.',
  options: {},
  async run(positionals) {
    need(positionals)
    say(await notices())
  },
})

async function notices(): Promise<string> {
  if (typeof STENO_NOTICES === 'string') return STENO_NOTICES
  const { noticesOf } = await import('./notices.ts')
  return noticesOf(resolve(import.meta.dir, '../..'))
}
