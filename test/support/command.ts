// Runs a command of the program inside the test process, as main.ts does, and captures its output.

import { spyOn } from 'bun:test'
import { runCommand } from '../../src/cli/command.ts'
import { commands } from '../../src/cli/commands.ts'
import { find } from '../../src/cli/find.ts'

export async function findCommand(dataDir: string, ...[name = '', ...args]: string[]) {
  const lines = { out: [] as string[], err: [] as string[] }
  const before = process.env.STENO_DATA_DIR
  process.env.STENO_DATA_DIR = dataDir
  const log = spyOn(console, 'log').mockImplementation((line = '') => void lines.out.push(String(line)))
  const error = spyOn(console, 'error').mockImplementation((line = '') => void lines.err.push(String(line)))
  try {
    const found = await find(commands, name, args)
    const code = await runCommand(found.command, found.args)
    const out = lines.out.join('\n')
    return { code, out, err: lines.err.join('\n'), json: () => JSON.parse(out) }
  } finally {
    log.mockRestore()
    error.mockRestore()
    if (before === undefined) delete process.env.STENO_DATA_DIR
    else process.env.STENO_DATA_DIR = before
  }
}
