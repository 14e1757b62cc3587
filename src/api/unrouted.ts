// The methods that the app accepts at a path, and the error for a request that matches no route.

import type { AnyElysia } from 'elysia'
import { ApiError } from '../errors.ts'
import { pathOf } from './request-url.ts'
import { acceptedRoutes } from './route.ts'

/** Returns NOT_FOUND for an unknown path, and METHOD_NOT_ALLOWED for a known path with another method. */
export function unrouted(app: AnyElysia, request: Request): ApiError {
  const methods = listMethods(app, pathOf(request.url))
  return methods.length === 0
    ? new ApiError('NOT_FOUND')
    : new ApiError('METHOD_NOT_ALLOWED', undefined, { Allow: methods.join(', ') })
}

/**
 * Returns the methods that the routes at this path accept, or an empty list if there are none. If a route has exactly
 * this path, routes with a parameter do not count. PUT is therefore no method of /v1/upload/resumable, although
 * /v1/upload/:id accepts PUT.
 */
export function listMethods(app: AnyElysia, pathname: string): string[] {
  const matching = acceptedRoutes(app).filter(({ path }) => patternOf(path).test(pathname))
  const exact = matching.filter(({ path }) => path === pathname)
  return (exact.length > 0 ? exact : matching).map(({ method }) => method)
}

const patterns = new Map<string, RegExp>()

function patternOf(path: string): RegExp {
  const known = patterns.get(path) ?? new RegExp(`^${sourceOf(path)}$`)
  patterns.set(path, known)
  return known
}

/** Converts a path of a route to a regular expression: `/a/:b` to `/a/[^/]+`, and `/a/*` to `/a/.*`. */
function sourceOf(path: string): string {
  return path.replaceAll('.', '\\.').replace('*', '.*').replace(/:\w+/g, '[^/]+')
}
