// The shape of a command, and what every command shares: options, --help, --json, exit codes.

import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { reasonOf } from '../base/reason.ts'

export type Values = Record<string, string | boolean | (string | boolean)[] | undefined>

export type Command = {
  /** `steno keys create EMAIL [--name N]` */
  usage: string
  summary: string
  options: ParseArgsOptionsConfig
  /** One line an option, for --help. */
  help?: Record<string, string>
  run(positionals: string[], values: Values): Promise<void>
}

/** Wrong usage: exit code 2. Any other error: exit code 1. */
export class UsageError extends Error {}

/** Runs one command and gives its exit code. Errors are one clear line on stderr. */
export async function runCommand(command: Command, args: string[]): Promise<number> {
  try {
    const { positionals, values } = parse(command, args)
    if (values.help) {
      console.log(helpOf(command))
      return 0
    }
    await command.run(positionals, values)
    return 0
  } catch (error) {
    const message = reasonOf(error)
    for (const line of message.split('\n')) console.error(`steno: ${line}`)
    if (!(error instanceof UsageError)) return 1
    console.error(`usage: ${command.usage}`)
    return 2
  }
}

/** Prints records as one JSON document, or as the lines that people read. */
export function print(values: Values, record: unknown, lines: () => string | string[]): void {
  if (values.json) console.log(JSON.stringify(record))
  else for (const line of [lines()].flat()) console.log(line)
}

/** The positionals that must be there, by name. */
export function need(positionals: string[], ...names: string[]): string[] {
  if (positionals.length !== names.length) {
    throw new UsageError(`${names.length === 0 ? 'no argument' : names.join(' and ')} expected`)
  }
  return positionals
}

function parse(command: Command, args: string[]) {
  try {
    return parseArgs({
      args,
      options: { ...command.options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    }) as { positionals: string[]; values: Values }
  } catch (error) {
    throw new UsageError(reasonOf(error))
  }
}

export function helpOf(command: Command): string {
  const rows = Object.entries(command.help ?? {}).map(([name, line]) => `  --${name.padEnd(26)} ${line}`)
  return [`usage: ${command.usage}`, '', command.summary, ...(rows.length > 0 ? ['', ...rows] : [])].join(
    '\n',
  )
}
