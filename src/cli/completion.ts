// The command that prints the completion script of a shell, from the table of commands.

import { need } from './arguments.ts'
import { type Command, command } from './command.ts'
import { bashScript, fishScript, type NamedCommand, zshScript } from './completion-scripts.ts'
import { UsageError } from './failure.ts'
import { say } from './print.ts'

const writers: Record<string, (commands: NamedCommand[]) => string> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}
const shells = Object.keys(writers)
type Commands = Record<string, () => Promise<Command>>

export function completionOf(commands: Commands): Command {
  return command({
    usage: 'steno completion bash|zsh|fish',
    summary: 'Print the completion script of a shell.',
    options: {},
    suggested: shells,
    more: [
      'bash: steno completion bash > ~/.local/share/bash-completion/completions/steno',
      'zsh:  steno completion zsh > ~/.zfunc/_steno, with fpath+=~/.zfunc before compinit in ~/.zshrc',
      'fish: steno completion fish > ~/.config/fish/completions/steno.fish',
    ],
    async run(positionals) {
      const [shell] = need(positionals, 'SHELL')
      const write = Object.hasOwn(writers, shell) ? writers[shell] : undefined
      if (write === undefined) throw new UsageError(`${shell} is not one of ${shells.join(', ')}`)
      say(write(await listCommands(commands)))
    },
  })
}

/** Loads the code of all commands. Returns the description and the name of each command. */
export async function listCommands(commands: Commands): Promise<NamedCommand[]> {
  return Promise.all(Object.entries(commands).map(async ([name, load]) => ({ ...(await load()), name })))
}
