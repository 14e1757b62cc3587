// The MCP endpoint, at which assistants call the tools of the service over streamable HTTP. The endpoint is
// stateless: it has no sessions. So it refuses GET, which would open the stream of a session, and DELETE, which would
// end a session.

import { Elysia } from 'elysia'
import { ApiError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { readBody, requireUncompressed } from '../gate/body.ts'
import { type Caller, requireScope } from '../gate/credential.ts'
import { gate } from '../gate/gate.ts'
import { refuseForeignOrigin } from '../gate/own-origin.ts'
import { pauseIdleTimeout } from '../idle-timeout.ts'
import { openToAnyOrigin, preflightAnswer } from '../oauth/answers.ts'
import { about } from '../route.ts'
import type { Service } from '../service.ts'
import { tools } from './tools.ts'

const hidden = { detail: about({ hide: true }) }
const refused = { detail: about({ refused: true }) }

export const mcp = (service: Service) =>
  new Elysia()
    .use(gate(service))
    .options('/mcp', () => preflightAnswer('POST'), { visitor: true, ...hidden })
    .get('/mcp', postOnly, { assistant: 'mcp', ...refused })
    .delete('/mcp', postOnly, { assistant: 'mcp', parse: 'none', ...refused })
    .post(
      '/mcp',
      async ({ request, caller, server, set }) => {
        if (!isLoopback(request.headers.get('origin'))) refuseForeignOrigin(service, request)
        const message = await readMessage(request)
        if (message === undefined) return unreadable()
        requireScope(service, request, caller, 'read')
        if (changesSomething(message)) requireScope(service, request, caller, 'write')
        // This header switches off the buffering of a proxy such as nginx, which would delay the messages.
        Object.assign(set.headers, { ...openToAnyOrigin, 'X-Accel-Buffering': 'no' })
        const response = await answerMessage(service, { request, caller, message })
        // A tool may wait for a job before the end of the response.
        const resumeTimeout = pauseIdleTimeout(service.config, server, request, limits.toolAnswerMs)
        return atEnd(response, resumeTimeout)
      },
      { assistant: 'mcp', parse: 'none' },
    )

function postOnly(): never {
  throw new ApiError('METHOD_NOT_ALLOWED', undefined, { Allow: 'OPTIONS, POST' })
}

/** Returns true if the origin is a web page on the caller's own machine, such as the MCP Inspector. */
function isLoopback(origin: string | null): boolean {
  return /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(origin ?? '')
}

async function readMessage(request: Request): Promise<unknown> {
  requireUncompressed(request.headers)
  const text = new TextDecoder().decode(await readBody(request))
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function unreadable(): Response {
  const error = { code: -32_700, message: 'Parse error: the body is not valid JSON' }
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 400, headers: openToAnyOrigin })
}

/**
 * Returns true if a message from an assistant calls a tool that changes data or costs money. For a list of messages,
 * returns true if one of these messages calls such a tool.
 */
function changesSomething(message: unknown): boolean {
  return Array.isArray(message) ? message.some(callsChangingTool) : callsChangingTool(message)
}

function callsChangingTool(message: unknown): boolean {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } | null }
  return (
    method === 'tools/call' &&
    Object.entries(tools).some(([name, tool]) => name === params?.name && tool.changes)
  )
}

type Asked = { request: Request; caller: Caller; message: unknown }

/**
 * Answers a message from an assistant. The MCP library is imported at the first message, so that a server without
 * assistants does not load the library.
 */
async function answerMessage(service: Service, asked: Asked): Promise<Response> {
  const { answer } = await import('./server.ts')
  return answer(service, asked)
}

/**
 * Returns a response with the same content, which calls `onEnd` when its whole body has been read. If the response has
 * no body, calls `onEnd` at once.
 */
function atEnd(response: Response, onEnd: () => void): Response {
  if (response.body)
    return new Response(response.body.pipeThrough(new TransformStream({ flush: onEnd })), response)
  onEnd()
  return response
}
