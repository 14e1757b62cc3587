// The routes that describe the service: GET /v1, the OpenAPI document and the docs page.

import { type AnyElysia, Elysia } from 'elysia'
import { gate } from './gate/gate.ts'
import type { Description } from './openapi/document.ts'
import { about } from './route.ts'
import { introductionOf } from './self-description.ts'
import type { Service } from './service.ts'
import * as shapes from './shapes/introduction.ts'

/**
 * Creates the routes. `whole` returns the complete app, whose routes the OpenAPI document describes. `whole` may be
 * called only while a request is handled. Before the first request, routes are still being added to the app.
 */
export const introduction = (service: Service, whole: () => AnyElysia) => {
  let description: Description | null = null
  const openapi = async ({ request }: { request: Request }) => {
    const { describe, withAddresses } = await import('./openapi/document.ts')
    description ??= describe(whole())
    return withAddresses(description, service.baseUrl(request))
  }

  const docs = async (context: { request: Request }) => {
    const { docsPage } = await import('./docs/page.ts')
    return docsPage(await openapi(context))
  }

  return new Elysia({ tags: ['Service'] })
    .use(gate(service))

    .get(
      '/v1',
      ({ set, request }) => {
        set.headers['Access-Control-Allow-Origin'] = '*'
        set.headers['Access-Control-Expose-Headers'] = '*'
        return introductionOf(service, whole(), service.baseUrl(request))
      },
      {
        open: 'service',
        response: { 200: shapes.introduction },
        detail: about({
          summary: 'What this service is',
          success: {
            status: 200,
            description: 'Success',
            headers: ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'],
          },
        }),
      },
    )

    .get('/v1/openapi.json', openapi, { visitor: true, detail: about({ hide: true }) })
    .get('/docs', docs, { visitor: true, detail: about({ hide: true }) })
}
