import { resolve } from 'node:path'
import { need } from './arguments.ts'
import { command } from './command.ts'
import { say } from './print.ts'

/** The software bill of materials of the built program, defined by scripts/build.ts. Undefined in a checkout. */
declare const STENO_BILL: string | undefined

export const sbom = command({
  usage: 'steno sbom',
  summary: 'Print the software bill of materials, as CycloneDX 1.6.',
  options: {},
  async run(positionals) {
    need(positionals)
    say(await bill())
  },
})

async function bill(): Promise<string> {
  if (typeof STENO_BILL === 'string') return STENO_BILL
  const { billOf } = await import('./bill.ts')
  return billOf(resolve(import.meta.dir, '../..'), process.arch === 'arm64' ? 'linux-arm64' : 'linux-x64')
}
