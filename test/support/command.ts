// Runs a command of steno inside the test process, as main.ts does, and captures its output.

import { spyOn } from 'bun:test'
import { runCommand } from '../../src/cli/command.ts'
import { commands } from '../../src/cli/commands.ts'
import { find } from '../../src/cli/find.ts'
import { terminal } from '../../src/cli/terminal.ts'
import { makeDataDir } from '../../src/db/data-dir.ts'
import { openTestDb } from './new-database.ts'

export async function findCommand(dataDir: string, ...[name = '', ...args]: string[]) {
  const written = { out: '', err: '' }
  // A command may change the environment of its process, for example for its engines. The old environment is restored
  // after the command.
  const before = { ...process.env }
  process.env.STENO_DATA_DIR = dataDir
  const out = spyOn(terminal, 'out').mockImplementation(text => {
    written.out += text
  })
  const err = spyOn(terminal, 'err').mockImplementation(text => {
    written.err += text
  })
  try {
    const code = await runCommand(await find(commands, name, args))
    return { code, ...written, json: () => JSON.parse(written.out) }
  } finally {
    out.mockRestore()
    err.mockRestore()
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
    Object.assign(process.env, before)
  }
}

/** Creates a data folder with an empty database, as a server does at its first start. */
export function makeService(dataDir: string): string {
  makeDataDir(dataDir)
  openTestDb(dataDir).close()
  return dataDir
}
