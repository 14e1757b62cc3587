// Starts the HTTP server.

import { createBunRouteHandler } from 'elysia/adapter/bun/compose'
import { linkTo, openApp } from './app.ts'
import { envelope, statusOf, toApiError } from './envelope.ts'
import { quotaHeaders } from './gate/quota-answer.ts'
import { idleSeconds } from './idle-timeout.ts'
import type { Service } from './service.ts'

type Answer = (request: Request) => Response | Promise<Response>
type Method = Bun.Serve.HTTPMethod

/**
 * Starts the server of a service. Elysia's method `listen` takes much more CPU time: it prepares all routes twice and
 * collects garbage three times. `listen` also keeps the app in memory after the server has stopped.
 */
export function serve(service: Service, address: { hostname: string; port: number }): Bun.Server<unknown> {
  const app = openApp(service)
  const routes: Record<string, Partial<Record<Method, Answer>>> = {}
  // Elysia, not Bun, routes the paths that end in `*`, because Bun does not tell a handler which part `*` has matched.
  for (const route of app.router.history.filter(({ path }) => !path.endsWith('*'))) {
    let handler: Answer | null = null
    const answer: Answer = request => {
      // The handler is created at the first request of its route, because most routes are rarely used.
      handler ??= createBunRouteHandler(app, route) as Answer
      return handler(request)
    }
    routes[route.path] = { [route.method]: answer, ...routes[route.path] }
  }
  // Elysia makes the function `app.fetch` when the property is read, which takes 1.3 ms of CPU time. Only requests to
  // paths outside `routes` need this function. So the property is read at such a request, and not at the start.
  const fetch: Answer = request => app.fetch(request)
  app.server = Bun.serve({ ...optionsOf(service), ...address, routes, fetch })
  return app.server
}

function optionsOf(service: Service) {
  return {
    reusePort: false,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: idleSeconds(service.config),
    // In development mode, Bun's error page would show file paths and source code to callers.
    development: false,
    error(error: unknown) {
      const answer = toApiError(error, 'UNKNOWN', {})
      return Response.json(envelope(answer, service.baseUrl()), {
        status: statusOf(answer.code),
        headers: { Link: linkTo(service.baseUrl()), ...quotaHeaders(service.rateLimiter, null) },
      })
    },
  }
}
