// Parses the arguments of a command.

import { existsSync } from 'node:fs'
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { findSimilar } from '../base/edit-distance.ts'
import { reasonOf } from '../base/reason.ts'
import { UsageError } from './failure.ts'

/**
 * Returns the positional arguments of a command, one for each of `names`. Throws a UsageError if there are too many or
 * too few, or if one is empty, for example from an unset shell variable.
 */
export function need<const Names extends string[]>(
  positionals: string[],
  ...names: Names
): { [Index in keyof Names]: string } {
  const expected = `${names.length === 0 ? 'no argument' : names.join(' and ')} expected`
  const further = positionals.slice(names.length).join(' ')
  if (further !== '') throw new UsageError(`${expected}; too many arguments: ${further}`)
  if (positionals.length !== names.length || positionals.includes('')) throw new UsageError(expected)
  return positionals as { [Index in keyof Names]: string }
}

/** Throws a UsageError if one of the options `names` has an empty value, for example from an unset shell variable. */
export function refuseEmpty<Name extends string>(
  values: Partial<Record<Name, unknown>>,
  ...names: Name[]
): void {
  const empty = names.find(name => values[name] === '')
  if (empty !== undefined) throw new UsageError(`--${empty} needs a value`)
}

/** Converts the digits of a whole number. Returns NaN for any other text, such as `0x10`, `1e2` or an empty text. */
export function parseWhole(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN
}

export function parse<Options extends ParseArgsOptionsConfig>(options: Options, args: string[]) {
  try {
    return parseArgs({ args, options, allowPositionals: true }) as {
      positionals: string[]
      values: Record<string, unknown>
    }
  } catch (error) {
    throw new UsageError(complaintOf(error, { args, known: Object.keys(options) }))
  }
}

/**
 * Returns the text of a UsageError for an error of `parseArgs`. Frequent errors get a shorter text. `parseArgs` reads a
 * negative number, such as -5, as an unknown option, so the text says that the number is negative.
 */
function complaintOf(error: unknown, { args, known }: { args: string[]; known: string[] }): string {
  const message = reasonOf(error)
  const [, named] = /^Unknown option '([^']*)'/.exec(message) ?? []
  const negative = /^-?\d/.test(named ?? '') ? args.find(given => /^-\d+(\.\d+)?$/.test(given)) : undefined
  if (negative !== undefined) return `${negative} is negative, which no argument may be`
  if (named !== undefined) {
    // For a group of letters such as -qx, `parseArgs` names the unknown letter without its hyphen.
    const unknown = named.startsWith('-') ? named : `-${named}`
    const letters = unknown.replace(/^-+/, '')
    const file = args.find(given => given.startsWith('-') && given.includes(letters) && existsSync(given))
    if (file !== undefined) return `there is no option ${unknown}; to name the file: ./${file}`
    const meant = unknown.startsWith('--') ? findSimilar(unknown.slice(2), known) : null
    return `there is no option ${unknown}${meant === null ? '' : `; did you mean --${meant}?`}`
  }
  const [, lacking] = /^Option '([^']*?)(?: <value>)?' argument missing/.exec(message) ?? []
  if (lacking !== undefined) return `${lacking} needs a value`
  const [, before] = /^Option '([^']*?)(?: <value>)?' argument is ambiguous/.exec(message) ?? []
  if (before !== undefined) return `${before} needs a value; if it begins with a hyphen: ${before}=-x`
  const [, full] = /^Option '([^']*)' does not take an argument/.exec(message) ?? []
  return full === undefined ? message : `${full} takes no value`
}
