// The type of a tool of the MCP endpoint.

import type { Static, TObject } from '@sinclair/typebox'
import type { RateName } from '../../limits.ts'
import type { Caller } from '../gate/credential.ts'
import type { Service } from '../service.ts'

/**
 * Reports the progress of a tool call, in percent and with a sentence. Does nothing if the assistant asked for no
 * reports.
 */
export type Report = (progress: number, sentence: string) => Promise<void>

export type ToolContext = {
  service: Service
  caller: Caller
  /** Throws if the credential was revoked since the request arrived. */
  recheck: () => void
  report: Report
  signal: AbortSignal
}

export type Tool<Input extends TObject = TObject> = {
  title: string
  description: string
  input: Input
  /** True if a call of the tool changes data or costs money. */
  changes: boolean
  /** The quota in which a call of the tool counts, in addition to the quota `mcp`. */
  rate: RateName
  /** Runs the tool for an assistant. Returns the text for the assistant, or throws an ApiError. */
  run(context: ToolContext, given: Static<Input>): Promise<string> | string
}

/**
 * Returns the tool unchanged. The compiler derives the type of `given`, a parameter of `run`, from the tool's input
 * schema.
 */
export function tool<Input extends TObject>(defined: Tool<Input>): Tool {
  return defined as unknown as Tool
}
