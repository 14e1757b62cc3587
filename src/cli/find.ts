// Finds a command by its words: `keys create ana@example.org` is `keys create` with one argument. For unknown words it
// returns the overview.

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

/** Lists all commands, or those that begin with `name`. This is a usage error, unless help was requested. */
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
