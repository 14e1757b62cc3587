// Reads parameters that several OAuth requests have in common.

import { resourceOf } from './resources.ts'

/** Returns the values of the parameter `resource`, or null if one of the values is not a resource of this service. */
export function readResources(params: URLSearchParams, baseUrl: string): string[] | null {
  const named = params.getAll('resource').map(text => resourceOf(text, baseUrl))
  return named.includes(null) ? null : [...new Set(named)].filter(each => each !== null)
}

/**
 * Returns the name of a parameter that occurs more than once, or null if there is none. Only the parameter `resource`
 * may occur more than once.
 */
export function repeatedName(params: URLSearchParams): string | null {
  const names = [...params.keys()].filter(name => name !== 'resource')
  return names.find((name, at) => names.indexOf(name) !== at) ?? null
}
