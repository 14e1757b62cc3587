// Answers the MCP messages of one HTTP request, such as the request for the list of tools. Uses the official MCP SDK.

import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  CancelledNotificationSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { ApiError } from '../../errors.ts'
import { toApiError } from '../envelope.ts'
import type { Caller } from '../gate/credential.ts'
import { refusal } from '../gate/quota-answer.ts'
import type { Service } from '../service.ts'
import { apiVersion } from '../version.ts'
import { readArguments } from './arguments.ts'
import type { Report, ToolContext } from './tool.ts'
import { tools } from './tools.ts'

const instructions =
  'steno transcribes recorded audio and video. Start with transcribe_url for a new recording, or with ' +
  'list_transcripts and search_transcripts for what was transcribed before. Read a transcript with get_transcript; ' +
  'a long one comes in pages. A transcription that runs takes about a tenth of the length of the recording.'

/**
 * Options of the SDK's server. The SDK uses `jsonSchemaValidator` only for tools that ask a person for data. steno has
 * no such tool, so this validator only throws an error.
 */
const options = {
  capabilities: { tools: {} },
  instructions,
  jsonSchemaValidator: {
    getValidator(): never {
      throw new Error('the server asked for data of a person')
    },
  },
}

type Asked = { request: Request; caller: Caller; recheck: () => void; message: unknown }

/**
 * Answers a message from an assistant. Each request gets its own server and transport, because the endpoint has no
 * sessions.
 */
export async function answer(service: Service, asked: Asked): Promise<Response> {
  const { request, caller, recheck, message } = asked
  const server = new Server({ name: 'steno', title: 'steno', version: apiVersion }, options)
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.entries(tools).map(([name, { title, description, input, changes }]) => ({
      name,
      title,
      description,
      inputSchema: { ...input, type: 'object' as const },
      annotations: { readOnlyHint: !changes, destructiveHint: false, openWorldHint: changes },
    })),
  }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const token = params._meta?.progressToken
    const report: Report = async (progress, sentence) => {
      if (token === undefined) return
      const told = { progressToken: token, progress, total: 100, message: sentence }
      await extra.sendNotification({ method: 'notifications/progress', params: told })
    }
    const context = { service, caller, recheck, report, signal: request.signal }
    return callTool(context, params.name, params.arguments)
  })
  // Ignores cancellations, as MCP allows. If the SDK handled a cancellation, the response to the cancelled request
  // would never end.
  server.setNotificationHandler(CancelledNotificationSchema, () => {})
  const transport = new WebStandardStreamableHTTPServerTransport()
  await server.connect(transport)
  return transport.handleRequest(request, { parsedBody: message })
}

/**
 * Calls a tool. If the call fails, the result contains the error message, so that the assistant can correct the call.
 */
async function callTool(context: ToolContext, name: string, given: unknown): Promise<CallToolResult> {
  try {
    const tool = Object.entries(tools).find(([known]) => known === name)?.[1]
    if (!tool) throw new ApiError('INVALID_REQUEST', `There is no tool ${name}.`)
    takeQuota(context, tool.rate)
    return said(await tool.run(context, readArguments(tool.input, given)))
  } catch (error) {
    const { message, code } = toApiError(error, 'UNKNOWN', { tool: name })
    return { ...said(`${message} (${code})`), isError: true }
  }
}

/** Counts a tool call in the quota of the equivalent HTTP endpoint. Throws if the quota is used up. */
function takeQuota(
  { service, caller }: ToolContext,
  rate: Parameters<Service['rateLimiter']['take']>[0],
): void {
  const quota = service.rateLimiter.take(rate, caller.countedAs)
  if (!quota || quota.allowed) return
  const { 'Retry-After': seconds } = refusal(quota).headers
  throw new ApiError('RATE_LIMIT_EXCEEDED', `Too many calls; wait ${seconds} s before the next one.`)
}

function said(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] }
}
