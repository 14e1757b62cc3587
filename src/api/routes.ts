import type { AnyElysia } from 'elysia'

/** The methods that an address takes; none when there is nothing at it. */
export function listMethods(app: AnyElysia, pathname: string): string[] {
  return app.routes.filter(({ path }) => patternOf(path).test(pathname)).map(({ method }) => method)
}

const patterns = new Map<string, RegExp>()

function patternOf(path: string): RegExp {
  const known = patterns.get(path) ?? new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+')}$`)
  patterns.set(path, known)
  return known
}
