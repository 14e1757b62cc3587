// The MCP endpoint, at which assistants call the tools of the service over streamable HTTP. The endpoint has no
// sessions, so it refuses GET and DELETE, which belong to sessions.

import { Elysia } from 'elysia'
import { ApiError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { openToAnyOrigin, preflightAnswer } from '../cors.ts'
import { readBody, requireUncompressed } from '../gate/body.ts'
import { type Caller, requireScope } from '../gate/credential.ts'
import { gate } from '../gate/gate.ts'
import { refuseForeignOrigin } from '../gate/own-origin.ts'
import { pauseIdleTimeout } from '../idle-timeout.ts'
import { about } from '../route.ts'
import type { Service } from '../service.ts'
import { unbuffered } from '../stream-headers.ts'
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
      async ({ request, requestState, caller, server, set }) => {
        if (!isLoopback(request.headers.get('origin'))) refuseForeignOrigin(service, request)
        const message = await readMessage(request)
        const { recheck } = requestState
        recheck()
        if (message === undefined) return unreadable()
        requireScope(service, request, caller, 'read')
        if (changesSomething(message)) requireScope(service, request, caller, 'write')
        Object.assign(set.headers, { ...openToAnyOrigin, ...unbuffered })
        const response = await answerMessage(service, { request, caller, recheck, message })
        // Bun's idle timeout could close the connection while a tool waits for a job.
        const resumeTimeout = pauseIdleTimeout(service.config, server, request, limits.toolAnswerMs)
        return atEnd(response, resumeTimeout)
      },
      { assistant: 'mcp', parse: 'none' },
    )

function postOnly(): never {
  throw new ApiError('METHOD_NOT_ALLOWED', undefined, { Allow: 'OPTIONS, POST' })
}

/** Returns true if the origin is an http address of the caller's own machine. The MCP Inspector has such an origin. */
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

/** Returns true if a message, or one message in a list, calls a tool that changes data or costs money. */
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

type Asked = { request: Request; caller: Caller; recheck: () => void; message: unknown }

/**
 * Answers a message from an assistant. The MCP library is loaded at the first message, so that it does not slow down
 * the start of the server.
 */
async function answerMessage(service: Service, asked: Asked): Promise<Response> {
  const { answer } = await import('./server.ts')
  return answer(service, asked)
}

/**
 * Returns the response, and calls `onEnd` when its whole body has been read. Calls `onEnd` at once if there is no body.
 */
function atEnd(response: Response, onEnd: () => void): Response {
  if (response.body)
    return new Response(response.body.pipeThrough(new TransformStream({ flush: onEnd })), response)
  onEnd()
  return response
}
