// The shape of a tool.

import type { Static, TObject } from '@sinclair/typebox'
import type { RateName } from '../../limits.ts'
import type { Caller } from '../credential.ts'
import type { Service } from '../service.ts'

/** Tells the assistant about the progress of a call: 0 to 100, and a sentence. */
export type Report = (progress: number, sentence: string) => Promise<void>

export type ToolContext = { service: Service; caller: Caller; report: Report; signal: AbortSignal }

export type Tool<Input extends TObject = TObject> = {
  title: string
  description: string
  input: Input
  /** True if a call changes something or costs money. */
  changes: boolean
  /** The quota towards which a call counts, in addition to `mcp`. */
  rate: RateName
  /** Returns the text for the assistant. Throws an ApiError for a call that cannot succeed. */
  run(context: ToolContext, given: Static<Input>): Promise<string> | string
}

/** Checks the types of a tool. */
export function tool<Input extends TObject>(defined: Tool<Input>): Tool {
  return defined as unknown as Tool
}
