// Finds a command by its words: `keys create ana@example.org` is the command `keys create` with one
// argument. For unknown words the result is a command that prints the list of commands.

import { type Command, UsageError } from './command.ts'

type Commands = Record<string, () => Promise<Command>>

export async function find(
  commands: Commands,
  name: string,
  args: string[],
): Promise<{ command: Command; args: string[] }> {
  const ofTwoWords = commands[`${name} ${args[0] ?? ''}`]
  if (ofTwoWords) return { command: await ofTwoWords(), args: args.slice(1) }
  const ofOneWord = commands[name]
  if (ofOneWord) return { command: await ofOneWord(), args }
  return { command: overview(commands, name, args), args: [] }
}

/**
 * Returns a command that lists the commands that begin with `name`, or all commands if none does. Running it
 * is a usage error, unless the user asked for help.
 */
function overview(commands: Commands, name: string, args: string[]): Command {
  const all = Object.entries(commands)
  const family = all.filter(([command]) => command.startsWith(`${name} `))
  const isFamily = family.length > 0
  const isHelp =
    ['help', '--help', '-h'].includes(name) || (isFamily && args.some(arg => /^(--help|-h)$/.test(arg)))
  return {
    usage: isFamily ? `steno ${name} COMMAND` : 'steno COMMAND [OPTIONS]',
    summary: 'A transcription service in one file.',
    run: async () => {
      if (!isHelp) throw new UsageError(isFamily ? `${name} needs a command` : `there is no command ${name}`)
      console.log('usage: steno COMMAND [OPTIONS]\n')
      for (const [command, load] of isFamily ? family : all)
        console.log(`  ${command.padEnd(18)} ${(await load()).summary}`)
      console.log('\nsteno COMMAND --help says more.')
    },
  }
}
