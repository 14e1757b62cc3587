// Finds a command by its words: `keys create ana@example.org` is the command `keys create` with one argument. `help
// keys create` means `keys create --help`. For unknown words, returns a command that prints the list of commands or
// throws a UsageError.

import { findSimilar } from '../base/edit-distance.ts'
import type { Command, Found } from './command.ts'
import { UsageError } from './failure.ts'
import { say } from './print.ts'

type Commands = Record<string, () => Promise<Command>>

const helpWords = ['help', '--help', '-h']

export async function find(commands: Commands, name: string, args: string[]): Promise<Found> {
  const [second, ...others] = args
  if (helpWords.includes(name) && second !== undefined && !helpWords.includes(second))
    return find(commands, second, [...others, '--help'])
  const ofTwoWords = commands[`${name} ${second ?? ''}`]
  if (ofTwoWords) return { called: `steno ${name} ${second}`, command: await ofTwoWords(), args: others }
  // Without `hasOwn`, words such as `constructor` would name a property that every object has.
  const ofOneWord = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (ofOneWord) return { called: `steno ${name}`, command: await ofOneWord(), args }
  return overview(commands, name, args)
}

/**
 * Called if there is no command for the words that the user typed. Returns a command that prints a list of commands if
 * the user asked for help, and otherwise throws a UsageError. The list has the commands whose first word is `name`, or
 * else all commands.
 */
function overview(commands: Commands, name: string, args: string[]): Found {
  const all = Object.entries(commands)
  const family = all.filter(([command]) => command.startsWith(`${name} `))
  const isFamily = family.length > 0
  const isHelp = helpWords.includes(name) || (isFamily && args.some(arg => helpWords.includes(arg)))
  const called = isFamily ? `steno ${name}` : 'steno'
  const usage = `${called} COMMAND [OPTIONS]`
  const command: Command = {
    usage,
    summary: 'A transcription service in one file.',
    options: {},
    help: {},
    choices: {},
    suggested: [],
    more: [],
    run: async () => {
      if (!isHelp) throw new UsageError(complaint(Object.keys(commands), name, isFamily ? args : []))
      say(`usage: ${usage}`, '')
      for (const [command, load] of isFamily ? family : all)
        say(`  ${command.padEnd(18)} ${(await load()).summary}`)
      say('', `${called} COMMAND --help says more.`)
    },
  }
  return { called, command, args: [] }
}

/** Returns the error message for words that name no command. It may suggest the most similar command. */
function complaint(known: string[], name: string, [second]: string[]): string {
  const isFamily = known.some(command => command.startsWith(`${name} `))
  if (isFamily && (second === undefined || second.startsWith('-'))) return `${name} needs a command`
  const given = isFamily ? `${name} ${second}` : name
  const firstWords = ['help', ...known.flatMap(command => [command, command.split(' ')[0] ?? ''])]
  const meant = findSimilar(given, isFamily ? known : [...new Set(firstWords)])
  if (given.startsWith('-')) return `there is no option ${given}`
  return `there is no command ${given}${meant === null ? '' : `; did you mean ${meant}?`}`
}
