// Checks the arguments with which an assistant calls a tool.

import type { TObject } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { ApiError } from '../../errors.ts'

/**
 * Returns the validated arguments of a tool call. Accepts the text "20" for a number, and "true" for a boolean. Treats
 * null as a missing argument. If an argument is invalid, throws an ApiError that names it.
 */
export function readArguments(input: TObject, given: unknown): Record<string, unknown> {
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
  const present = Object.entries(isObject ? given : {}).filter(([, value]) => value !== null)
  const known = Object.keys(input.properties)
  const unknown = present.find(([name]) => !known.includes(name))
  if (unknown) {
    throw new ApiError('INVALID_REQUEST', `${unknown[0]} is not an argument; there are ${known.join(', ')}.`)
  }
  const converted = Value.Convert(input, Object.fromEntries(present)) as Record<string, unknown>
  const problem = Value.Errors(input, converted).First()
  if (!problem) return Value.Default(input, converted) as Record<string, unknown>
  const name = problem.path.split('/')[1] ?? ''
  const wanted = input.properties[name]?.description ?? 'another value'
  const state = name in converted ? 'is not valid' : 'is missing'
  throw new ApiError('INVALID_REQUEST', `${name} ${state}: give ${wanted}.`)
}
