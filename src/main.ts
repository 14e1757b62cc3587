// The entry point of the program. Runs the command that the command line names, or the code of a child process.

import { runCommand } from './cli/command.ts'
import { children, commands } from './cli/commands.ts'
import { readEnvironmentFile } from './cli/environment-file.ts'
import { ignoreTerminal } from './cli/stop-signals.ts'

const [given = 'help', ...args] = process.argv.slice(2)
const name = /^(--version|-v|-V)$/.test(given) ? 'version' : given
const child = Object.hasOwn(children, name) ? children[name] : undefined
if (child) {
  ignoreTerminal()
  await (await child())()
} else {
  readEnvironmentFile()
  const { find } = await import('./cli/find.ts')
  process.exitCode = await runCommand(await find(commands, name, args))
}
