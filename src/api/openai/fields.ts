// The fields of the form that OpenAI's clients send, and functions that read one field.

import { invalidField, type OpenAiError } from './errors.ts'

/**
 * The fields of a form, each with a list of values. For several values, a client repeats `name` or `name[]`, or sends
 * `name[0]` and `name[1]`.
 */
export class Fields {
  readonly #values = new Map<string, string[]>()

  add(field: string, value: string): void {
    const name = field.replace(/\[\d*\]$/, '')
    const values = this.#values.get(name)
    if (values) values.push(value)
    else this.#values.set(name, [value])
  }

  /** Returns the last value of a field, or null if the field is missing or its last value is empty. */
  one(name: string): string | null {
    return this.#values.get(name)?.at(-1) || null
  }

  /** Returns all values of a field that are not empty. */
  many(name: string): readonly string[] {
    return this.#values.get(name)?.filter(value => value !== '') ?? []
  }

  names(): string[] {
    return [...this.#values.keys()]
  }
}

export function missing(name: string): OpenAiError {
  return invalidField(name, `Missing required parameter: '${name}'.`, 'missing_required_parameter')
}

export function choiceOf<Choice extends string>(
  fields: Fields,
  name: string,
  choices: readonly Choice[],
): Choice | null {
  const value = fields.one(name)
  return value === null ? null : checked(name, value, choices)
}

export function choicesOf<Choice extends string>(
  fields: Fields,
  name: string,
  choices: readonly Choice[],
): Choice[] {
  return fields.many(name).map(value => checked(name, value, choices))
}

/**
 * Returns the value of a boolean field, or false if it is missing. Python's `requests` sends `True`, other clients send
 * `true`.
 */
export function flagOf(fields: Fields, name: string): boolean {
  const value = fields.one(name)
  return value !== null && checked(name, value.toLowerCase(), ['true', 'false']) === 'true'
}

function checked<Choice extends string>(name: string, value: string, choices: readonly Choice[]): Choice {
  const found = choices.find(choice => choice === value)
  if (found !== undefined) return found
  const known = choices.map(choice => `'${choice}'`).join(', ')
  throw invalidField(name, `Invalid value: '${shown(value)}'. Supported values are: ${known}.`)
}

/** Returns a value for an error message: its first 100 characters, with `?` for each control character. */
export function shown(value: string): string {
  return value.replace(/\p{Cc}/gu, '?').slice(0, 100)
}
