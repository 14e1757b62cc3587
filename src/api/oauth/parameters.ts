// Reads parameters that several OAuth requests have in common.

import { resourceOf } from './resources.ts'

/** Removes the parameters without a value: OAuth treats them as missing (RFC 6749, section 3.1). */
export function withValues(params: URLSearchParams): URLSearchParams {
  return new URLSearchParams([...params].filter(([, value]) => value !== ''))
}

/**
 * Returns the values of the parameter `resource`, normalised and without duplicates. Returns null if one value is not a
 * resource of this service.
 */
export function readResources(params: URLSearchParams, baseUrl: string): string[] | null {
  const named = params.getAll('resource').map(text => resourceOf(text, baseUrl))
  return named.includes(null) ? null : [...new Set(named)].filter(each => each !== null)
}

/** Returns the name of a parameter that is repeated, or null. Only the parameter `resource` may be repeated. */
export function repeatedName(params: URLSearchParams): string | null {
  const seen = new Set<string>()
  for (const name of params.keys()) {
    if (seen.has(name)) return name
    if (name !== 'resource') seen.add(name)
  }
  return null
}
