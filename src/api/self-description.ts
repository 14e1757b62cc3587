// The response of GET /v1, with which the service describes itself.

import type { AnyElysia } from 'elysia'
import { keyStart } from '../accounts/key.ts'
import { requestErrors } from '../errors.ts'
import { languages } from '../languages.ts'
import { limits } from '../limits.ts'
import { contentTypes } from '../media/formats.ts'
import { metadataUrl } from './gate/challenge.ts'
import { signatureRule } from './openapi/webhooks.ts'
import { routesOf, templateOf } from './route.ts'
import type { Service } from './service.ts'
import { apiVersion, policy } from './version.ts'

const authentication = {
  type: 'api_key',
  headers: ['Authorization', 'X-Api-Key'],
  bearer_prefix: 'optional',
  format: `${keyStart}…`,
  webhook_signature: signatureRule,
}

const versioning = {
  current: 'v1',
  policy: policy.versioning,
}

const deprecation = {
  notice: policy.deprecation,
  headers: ['Deprecation', 'Sunset', 'Link'],
}

const errors = {
  envelope: { error: { code: 'string', message: 'string', docs_url: 'string, optional' } },
  codes: Object.keys(requestErrors),
}

export function introductionOf({ config, rateLimiter, engine }: Service, app: AnyElysia, baseUrl: string) {
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
    authentication: { ...authentication, oauth_resource_metadata: metadataUrl(baseUrl) },
    sign_up: config.signUp,
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
    versioning,
    deprecation,
    errors,
    limits: {
      file_bytes: config.fileBytesMax,
      audio_seconds: { min: config.durationMsMin / 1000, max: config.durationMsMax / 1000 },
      extensions: Object.keys(contentTypes),
    },
    languages: languages.map(code => ({ code, served: served.has(code) })),
    engine: { ready, message, model, device, diarization },
  }
}
