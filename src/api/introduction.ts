// The routes that describe the service: GET /v1, the OpenAPI document and the docs page.

import { type AnyElysia, Elysia } from 'elysia'
import { keyStart } from '../accounts/key.ts'
import { requestErrors } from '../errors.ts'
import { languages } from '../languages.ts'
import { limits } from '../limits.ts'
import { contentTypes } from '../media/formats.ts'
import { gate } from './gate.ts'
import { signatureRule } from './openapi-webhooks.ts'
import { about, routesOf, templateOf } from './route.ts'
import type { Service } from './service.ts'
import * as shapes from './shapes/introduction.ts'
import { apiVersion, policy } from './version.ts'

/**
 * Creates the routes. `whole` returns the complete app, whose routes the OpenAPI document describes. Only a request may
 * call `whole`, because the app is not complete while its routes are being added.
 */
export const introduction = (service: Service, whole: () => AnyElysia) => {
  let document: object | null = null
  const openapi = async ({ request }: { request: Request }) => {
    const url = service.baseUrl(request)
    const { describe } = await import('./openapi.ts')
    document ??= describe(whole(), url)
    return { ...document, servers: [{ url }] }
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

function introductionOf({ config, rateLimiter, engine }: Service, app: AnyElysia, baseUrl: string) {
  const { ready, message, model, device, diarization } = engine.state()
  const served = new Set(engine.languages())
  return {
    name: 'steno',
    version: apiVersion,
    base_url: baseUrl,
    description_url: `${baseUrl}/v1/openapi.json`,
    docs_url: `${baseUrl}/docs`,
    endpoints: routesOf(app).map(({ method, path, hooks: { detail } }) => {
      const rate = detail.rate
      return {
        method,
        path: templateOf(path),
        summary: detail.summary ?? '',
        requires_key: detail.keyed ?? false,
        requests_per_minute: rate ? rateLimiter.limitOf(rate) : null,
      }
    }),
    authentication: {
      type: 'api_key',
      headers: ['Authorization', 'X-Api-Key'],
      format: `${keyStart}…`,
      webhook_signature: signatureRule,
    },
    rate_limits: {
      window_seconds: limits.rateWindowMs / 1000,
      per_address: rateLimiter.limitOf('ip'),
      headers: [
        'RateLimit-Policy',
        'RateLimit',
        'X-RateLimit-Limit',
        'X-RateLimit-Remaining',
        'X-RateLimit-Reset',
        'Retry-After',
      ],
    },
    versioning: {
      current: 'v1',
      policy: policy.versioning,
    },
    deprecation: {
      notice: policy.deprecation,
      headers: ['Deprecation', 'Sunset', 'Link'],
    },
    errors: {
      envelope: { error: { code: 'string', message: 'string', docs_url: 'string, optional' } },
      codes: Object.keys(requestErrors),
    },
    limits: {
      file_bytes: config.fileBytesMax,
      audio_seconds: { min: config.durationMsMin / 1000, max: config.durationMsMax / 1000 },
      extensions: Object.keys(contentTypes),
    },
    languages: languages.map(code => ({ code, served: served.has(code) })),
    engine: { ready, message, model, device, diarization },
  }
}
