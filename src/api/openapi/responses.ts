// The responses of an operation in the OpenAPI document: the success response, the error responses, and any further
// responses that the route describes.

import { requestErrors } from '../../errors.ts'
import { openAiFactsOf } from '../openai/errors.ts'
import { openAiError } from '../openai/shapes/replies.ts'
import type { Route, RouteDetail } from '../route.ts'
import { errorBody } from '../shapes/answer-values.ts'
import type { Components } from './components.ts'
import { answerHeaders, errorHeaders, headersOf } from './headers.ts'

export function successResponse({ hooks: { response, detail } }: Route, components: Components): object {
  const { status, description, headers } = detail.success ?? { status: 200, description: 'Success' }
  const shape = detail.answer ?? response?.[status]
  const content = {
    ...(shape ? json(components.openReference(shape)) : {}),
    ...otherContent(detail, components),
  }
  return {
    [status]: {
      description,
      headers: headersOf([...answerHeaders(detail), ...(headers ?? [])]),
      ...(Object.keys(content).length > 0 ? { content } : {}),
    },
  }
}

/** Returns the bodies of the success response that are not JSON. */
function otherContent({ otherBodies = {} }: RouteDetail, { openReference }: Components): object {
  return Object.fromEntries(
    Object.entries(otherBodies).map(([type, body]) => {
      if (typeof body !== 'string') return [type, { schema: openReference(body) }]
      const format = type.startsWith('text/') ? {} : { format: 'binary' }
      return [type, { schema: { type: 'string', ...format, description: body } }]
    }),
  )
}

/** Returns the further responses of a route, which its field `also` describes. */
export function otherResponses({ hooks: { response, detail } }: Route, components: Components): object {
  return Object.fromEntries(
    Object.entries(detail.also ?? {}).map(([status, description]) => {
      const shape = response?.[Number(status)]
      // A response with 206 contains a part of the file. It therefore has the same content types as the response with
      // 200, which contains the whole file.
      const content = {
        ...(shape ? json(components.openReference(shape)) : {}),
        ...(status === '206' ? otherContent(detail, components) : {}),
      }
      const body = Object.keys(content).length > 0 ? { content } : {}
      const own = status === '206' ? ['Content-Range'] : []
      const headers = [...answerHeaders(detail), ...(detail.success?.headers ?? []), ...own]
      return [status, { description, headers: headersOf(headers), ...body }]
    }),
  )
}

/**
 * Returns the error responses of a route. Errors with the same status share one response, whose description lists these
 * errors.
 */
export function errorResponses(detail: RouteDetail, { openReference }: Components): object {
  const shape = detail.dialect === 'openai' ? openAiError : errorBody
  const errors = [...new Set([...(detail.errors ?? []), ...(detail.fails ?? [])])].map(code => {
    const facts = detail.dialect === 'openai' ? openAiFactsOf(code) : requestErrors[code]
    const name = 'reason' in facts ? facts.reason : code
    const headers = [
      ...(errorHeaders[facts.status] ?? []),
      ...(errorHeaders[code] ?? []),
      ...(detail.failHeaders?.[code] ?? []),
    ]
    return { status: facts.status, headers, text: `${name ? `${name}: ` : ''}${requestErrors[code].message}` }
  })
  return Object.fromEntries(
    [...Map.groupBy(errors, ({ status }) => status)].map(([status, same]) => [
      status,
      {
        description: [...new Set(same.map(({ text }) => text))].join(' '),
        headers: headersOf([...answerHeaders(detail), ...same.flatMap(({ headers }) => headers)]),
        content: json(openReference(shape)),
      },
    ]),
  )
}

export function json(schema: object): object {
  return { 'application/json': { schema } }
}
