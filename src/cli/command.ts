// A command: its options, its action, and the parts that all commands share. The shared parts are --help,
// --json and the exit codes.

import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { reasonOf } from '../base/reason.ts'

/** The types of the values that `parseArgs` returns for these options. */
export type ValuesOf<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options; allowPositionals: true }>
>['values']

type Definition<Options extends ParseArgsOptionsConfig> = {
  /** The line that describes the arguments, for example `steno keys create EMAIL [--name N]`. */
  usage: string
  summary: string
  options: Options
  /** A line of help for each option, which --help prints. */
  help?: Record<string, string>
  run(positionals: string[], values: ValuesOf<Options>): Promise<void>
}

export type Command = {
  usage: string
  summary: string
  /** Parses the arguments. Then runs the command, or prints its help if --help was given. */
  run(args: string[]): Promise<void>
}

/** The error for wrong usage. The program then ends with exit code 2; any other error has exit code 1. */
export class UsageError extends Error {}

export function command<const Options extends ParseArgsOptionsConfig>(
  definition: Definition<Options>,
): Command {
  const { usage, summary } = definition
  return {
    usage,
    summary,
    async run(args) {
      const { positionals, values } = parse(definition.options, args)
      if (values.help) console.log(helpOf(definition))
      else await definition.run(positionals, values)
    },
  }
}

/** Runs a command and returns its exit code. If the command fails, prints the error to stderr. */
export async function runCommand({ usage, run }: Command, args: string[]): Promise<number> {
  try {
    await run(args)
    return 0
  } catch (error) {
    for (const line of reasonOf(error).split('\n')) console.error(`steno: ${line}`)
    if (!(error instanceof UsageError)) return 1
    console.error(`usage: ${usage}`)
    return 2
  }
}

/**
 * Prints a result: `record` as one JSON document if `json` is true, otherwise the text that `lines` returns.
 */
export function print(
  { json }: { json?: boolean | undefined },
  record: unknown,
  lines: () => string | string[],
): void {
  if (json) console.log(JSON.stringify(record))
  else for (const line of [lines()].flat()) console.log(line)
}

/**
 * Returns the positional arguments under these names. Throws a UsageError if the number of arguments differs
 * from the number of names.
 */
export function need<const Names extends string[]>(
  positionals: string[],
  ...names: Names
): { [Index in keyof Names]: string } {
  if (positionals.length !== names.length) {
    throw new UsageError(`${names.length === 0 ? 'no argument' : names.join(' and ')} expected`)
  }
  return positionals as { [Index in keyof Names]: string }
}

function parse<Options extends ParseArgsOptionsConfig>(options: Options, args: string[]) {
  try {
    return parseArgs({
      args,
      options: { ...options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    }) as { positionals: string[]; values: ValuesOf<Options> & { help?: boolean } }
  } catch (error) {
    throw new UsageError(reasonOf(error))
  }
}

function helpOf({
  usage,
  summary,
  help = {},
}: Pick<Definition<ParseArgsOptionsConfig>, 'usage' | 'summary' | 'help'>): string {
  const rows = Object.entries(help).map(([name, line]) => `  --${name.padEnd(26)} ${line}`)
  return [`usage: ${usage}`, '', summary, ...(rows.length > 0 ? ['', ...rows] : [])].join('\n')
}
