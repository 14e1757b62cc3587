// The routes of the web app: its HTML file at each page address, and its scripts and styles below /assets.

import { Elysia } from 'elysia'
import { ApiError } from '../errors.ts'
import { gate } from './gate/gate.ts'
import { answer, filesOfPage, pageAnswer, protections, wantsHtml } from './page-answer.ts'
import { pageName } from './page-bundle.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'

/**
 * The addresses of the pages of the web app, except `/`. All of them return the same HTML file, whose script shows the
 * page for the address.
 */
const pagePaths = [
  '/register',
  '/jobs',
  '/jobs/:id',
  '/search',
  '/keys',
  '/balance',
  '/webhooks',
  '/apps',
  '/account',
  '/operator',
] as const

export const page = (service: Service) => {
  const app = new Elysia().use(gate(service))
  const hidden = { visitor: true, detail: about({ hide: true }) } as const
  const { dashboard } = service.config

  // A browser gets the web app. If the web app is off or the client does not accept HTML, the client is redirected to
  // the API reference.
  app.get(
    '/',
    ({ request }) =>
      dashboard && wantsHtml(request)
        ? pageAnswer(request)
        : new Response(null, {
            status: 302,
            headers: { Location: `${service.baseUrl(request)}/docs`, Vary: 'Accept' },
          }),
    hidden,
  )
  if (!dashboard) return app
  for (const path of pagePaths) app.get(path, ({ request }) => pageAnswer(request), hidden)
  return app.get(
    '/assets/:name',
    async ({ params, request }) => {
      const file = (await filesOfPage()).get(params.name)
      if (!file || file.name === pageName) throw new ApiError('NOT_FOUND')
      return answer(file, request, {
        ...protections,
        'Cache-Control': 'public, max-age=31536000, immutable',
      })
    },
    hidden,
  )
}
