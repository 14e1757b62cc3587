// The routes that describe the service: GET /v1, the OpenAPI document and the docs page.

import { type AnyElysia, Elysia } from 'elysia'
import { openToAnyOrigin } from './cors.ts'
import { gate } from './gate/gate.ts'
import type { Description } from './openapi/document.ts'
import { about } from './route.ts'
import { introductionOf } from './self-description.ts'
import type { Service } from './service.ts'
import * as shapes from './shapes/introduction.ts'

/**
 * Creates the routes of this file. `whole` returns the complete app, which the OpenAPI document describes. Call `whole`
 * only while a request is handled, because the app is not complete before the first request.
 */
export const introduction = (service: Service, whole: () => AnyElysia) => {
  let description: Description | null = null
  let latest: Answers | null = null

  const answersTo = async (request: Request): Promise<Answers> => {
    const { describe, withAddresses } = await import('./openapi/document.ts')
    const url = service.baseUrl(request)
    if (latest?.url === url) return latest
    description ??= describe(whole())
    const document = withAddresses(description, url)
    latest = { url, document, json: null, page: null }
    return latest
  }

  const openapi = async ({ request }: { request: Request }) => {
    const answers = await answersTo(request)
    answers.json ??= Response.json(answers.document)
    return answers.json.clone()
  }

  const docs = async ({ request }: { request: Request }) => {
    const answers = await answersTo(request)
    const { docsPage } = await import('./docs/page.ts')
    answers.page ??= docsPage(answers.document)
    return answers.page.clone()
  }

  return new Elysia({ tags: ['Service'] })
    .use(gate(service))

    .get(
      '/v1',
      ({ set, request }) => {
        Object.assign(set.headers, openToAnyOrigin)
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

/**
 * The OpenAPI document for the base URL `url`, and two cached responses: its JSON (1 ms of CPU time) and the docs page
 * (4 ms). A response is null until its first request. Only the last requested base URL is cached.
 */
type Answers = { url: string; document: object; json: Response | null; page: Response | null }
