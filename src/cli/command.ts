// The type of a command, which has options and an action. Every command has the option --help.

import type { ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { reasonOf } from '../base/reason.ts'
import { visible } from '../base/visible.ts'
import { ConfigError } from '../config/config-error.ts'
import { parse } from './arguments.ts'
import {
  Interrupted,
  interruptedCode,
  Reported,
  readerClosedCode,
  UsageError,
  usageCode,
  wrongSettingCode,
} from './failure.ts'
import { ReaderClosed, terminal } from './terminal.ts'

/** The type of the values that `parseArgs` returns for the definitions `Options`. */
export type ValuesOf<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options; allowPositionals: true }>
>['values']

/** The description of a command. Its help, the shell completion and the manual page are made from this description. */
export type Description = {
  /** The usage line: the name and the arguments of the command, such as `steno keys create EMAIL [--name N]`. */
  usage: string
  summary: string
  options: ParseArgsOptionsConfig
  /** A line of help for each option, by the name of the option. */
  help: Record<string, string>
  /** The values that each option accepts, by option name. The shell suggests them when the user presses the Tab key. */
  choices: Record<string, readonly string[]>
  /** The texts that the shell suggests for the argument of the command. */
  suggested: readonly string[]
  /** Paragraphs that the help of the command shows after the options. */
  more: string[]
}

type Definition<Options extends ParseArgsOptionsConfig> = Pick<Description, 'usage' | 'summary'> &
  Partial<Pick<Description, 'help' | 'choices' | 'suggested' | 'more'>> & {
    options: Options
    run(positionals: string[], values: ValuesOf<Options>): Promise<void>
  }

export type Command = Description & {
  /** Prints the help of the command if --help was given. Otherwise runs the command with the parsed arguments. */
  run(args: string[]): Promise<void>
}

export const jsonOption = { json: { type: 'boolean' } } as const

/** The lines of help for the options that several commands have. */
const sharedHelp: Record<string, string> = {
  json: 'print one JSON document',
  'data-dir': 'the data folder of the service (STENO_DATA_DIR)',
  help: 'show this help',
}

export function command<const Options extends ParseArgsOptionsConfig>(
  definition: Definition<Options>,
): Command {
  const options = { ...definition.options, help: { type: 'boolean', short: 'h' } } as const
  const { usage, summary, choices = {}, suggested = [], more = [] } = definition
  const description = {
    usage,
    summary,
    choices,
    suggested,
    more,
    options,
    help: { ...sharedHelp, ...definition.help },
  }
  return {
    ...description,
    async run(args) {
      const { positionals, values } = parse(options, args)
      if (values.help) terminal.out(`${helpOf(description)}\n`)
      else await definition.run(positionals, values as ValuesOf<Options>)
    },
  }
}

/** A command that was found by the user's words. `called` has these words, such as `steno keys create`. */
export type Found = { called: string; command: Command; args: string[] }

/**
 * Runs a command and returns its exit code. If the command fails, prints the error message to stderr. For the error
 * `Reported`, nothing is printed, because the command has already printed the reason. For the error `ReaderClosed`,
 * nothing is printed, because the reader of stdout needs no more output.
 */
export async function runCommand({ called, command, args }: Found): Promise<number> {
  try {
    await command.run(args)
    return 0
  } catch (error) {
    if (error instanceof Reported) return 1
    if (error instanceof ReaderClosed) return readerClosedCode
    const isUsage = error instanceof UsageError
    const hint = isUsage ? ` (${called} --help says more)` : ''
    for (const line of `${reasonOf(error)}${hint}`.split('\n')) terminal.err(`steno: ${visible(line)}\n`)
    if (error instanceof Interrupted) return interruptedCode
    if (error instanceof ConfigError) return wrongSettingCode
    return isUsage ? usageCode : 1
  }
}

function helpOf({ usage, summary, options, help, more }: Description): string {
  const rows = Object.entries(options).map(([name, { type, short }]) => {
    const flags = `${short === undefined ? '    ' : `-${short}, `}--${name}${type === 'string' ? ' VALUE' : ''}`
    return `  ${flags.padEnd(30)} ${help[name] ?? ''}`.trimEnd()
  })
  return [`usage: ${usage}`, '', summary, '', ...rows, ...more.flatMap(text => ['', text])].join('\n')
}
