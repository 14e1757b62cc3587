// The type of a tool.

import type { Static, TObject } from '@sinclair/typebox'
import type { RateName } from '../../limits.ts'
import type { Caller } from '../credential.ts'
import type { Service } from '../service.ts'

/** Reports the progress of a call to the assistant, as a number from 0 to 100 and a sentence. */
export type Report = (progress: number, sentence: string) => Promise<void>

export type ToolContext = { service: Service; caller: Caller; report: Report; signal: AbortSignal }

export type Tool<Input extends TObject = TObject> = {
  title: string
  description: string
  input: Input
  /** True if a call changes something or costs money. */
  changes: boolean
  /** The quota in which a call is counted, in addition to the quota `mcp`. */
  rate: RateName
  /** Called when an assistant calls the tool. Returns the text for the assistant, or throws an ApiError. */
  run(context: ToolContext, given: Static<Input>): Promise<string> | string
}

/**
 * Returns the tool unchanged. By this function, the compiler derives the type of `given` in `run` from the schema of
 * the input.
 */
export function tool<Input extends TObject>(defined: Tool<Input>): Tool {
  return defined as unknown as Tool
}
