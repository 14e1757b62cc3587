// The endpoints of OAuth 2.1: metadata, registration, consent, tokens and revocation.

import { Elysia } from 'elysia'
import { openToAnyOrigin, preflightAnswer } from '../cors.ts'
import { gate } from '../gate/gate.ts'
import { about } from '../route.ts'
import type { Service } from '../service.ts'
import { decide, showConsent } from './consent.ts'
import { resourceMetadata, serverMetadata } from './metadata.ts'
import { withValues } from './parameters.ts'
import { registerClient } from './registration.ts'
import { mcpUrl } from './resources.ts'
import { revocationAnswer, tokenAnswer } from './token.ts'

const hidden = { detail: about({ hide: true }) }

/**
 * The endpoints of OAuth. Scripts of web pages from any origin may call them, except the consent page: only a person
 * may give consent.
 */
export const oauth = (service: Service) => {
  const { db, baseUrl } = service
  const preflight = () => preflightAnswer('POST')
  return new Elysia()
    .use(gate(service))
    .use(documents(service))
    .post('/oauth/register', ({ body }) => registerClient(db, body as Record<string, unknown>), {
      openBody: 'oauth.register',
      ...hidden,
    })
    .get('/oauth/authorize', ({ request }) => showConsent(service, request), { visitor: true, ...hidden })
    .post(
      '/oauth/authorize',
      ({ request, requestState, form }) => decide(service, { request, requestState }, withValues(form)),
      {
        openForm: 'oauth.authorize',
      },
    )
    .post(
      '/oauth/token',
      ({ request, form }) =>
        tokenAnswer(db, { form: withValues(form), headers: request.headers, baseUrl: baseUrl(request) }),
      { openForm: 'oauth.token' },
    )
    .post(
      '/oauth/revoke',
      ({ request, form }) => revocationAnswer(db, { form: withValues(form), headers: request.headers }),
      { openForm: 'oauth.revoke' },
    )
    .options('/oauth/register', preflight, { visitor: true, ...hidden })
    .options('/oauth/token', preflight, { visitor: true, ...hidden })
    .options('/oauth/revoke', preflight, { visitor: true, ...hidden })
}

const documents = (service: Service) => {
  const { baseUrl } = service
  const document = (body: object) => Response.json(body, { headers: openToAnyOrigin })
  const preflight = () => preflightAnswer('GET')
  return new Elysia()
    .use(gate(service))
    .get(
      '/.well-known/oauth-authorization-server',
      ({ request }) => document(serverMetadata(baseUrl(request))),
      { visitor: true, ...hidden },
    )
    .get(
      '/.well-known/oauth-protected-resource',
      ({ request }) => document(resourceMetadata(baseUrl(request), baseUrl(request))),
      { visitor: true, ...hidden },
    )
    .get(
      '/.well-known/oauth-protected-resource/mcp',
      ({ request }) => document(resourceMetadata(mcpUrl(baseUrl(request)), baseUrl(request))),
      { visitor: true, ...hidden },
    )
    .options('/.well-known/oauth-authorization-server', preflight, { visitor: true, ...hidden })
    .options('/.well-known/oauth-protected-resource', preflight, { visitor: true, ...hidden })
    .options('/.well-known/oauth-protected-resource/mcp', preflight, { visitor: true, ...hidden })
}
