// `keys create ana@example.org` → the command `keys create` and its arguments; anything unknown → the overview.

import { type Command, UsageError } from './command.ts'

type Commands = Record<string, () => Promise<Command>>

export async function find(
  commands: Commands,
  name: string,
  args: string[],
): Promise<{ command: Command; args: string[] }> {
  const long = commands[`${name} ${args[0] ?? ''}`]
  if (long) return { command: await long(), args: args.slice(1) }
  const short = commands[name]
  if (short) return { command: await short(), args }
  return { command: overview(commands, name, args), args: [] }
}

function overview(commands: Commands, name: string, args: string[]): Command {
  const family = Object.keys(commands).filter(each => each.startsWith(`${name} `))
  const asked =
    ['help', '--help', '-h'].includes(name) ||
    (family.length > 0 && args.some(each => /^(--help|-h)$/.test(each)))
  return {
    usage: family.length > 0 ? `steno ${name} COMMAND` : 'steno COMMAND [OPTIONS]',
    summary: 'A transcription service in one file.',
    options: {},
    run: async () => {
      if (!asked)
        throw new UsageError(family.length > 0 ? `${name} needs a command` : `there is no command ${name}`)
      const shown = family.length > 0 ? family : Object.keys(commands)
      console.log('usage: steno COMMAND [OPTIONS]\n')
      for (const each of shown) {
        const command = await commands[each]!()
        console.log(`  ${each.padEnd(18)} ${command.summary}`)
      }
      console.log('\nsteno COMMAND --help says more.')
    },
  }
}
