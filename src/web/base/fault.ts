// The error of a request that failed, and the function that makes this error from the response of the server.

import { words } from '../words.ts'

/** The error of a failed request. The page shows its message to the person. */
export class Fault extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly status = 0,
    readonly retryAfterMs: number | null = null,
  ) {
    super(message)
  }
}

export async function faultOf(response: Response): Promise<Fault> {
  const retryAfter = Number(response.headers.get('retry-after')) * 1000 || null
  const body: unknown = isJson(response) ? await response.json().catch(() => null) : null
  const { error } = (body ?? {}) as { error?: { code?: string; message?: string } }
  const { code = 'NOT_JSON', message = words.faults.notJson } = error ?? {}
  return new Fault(code, words.advice[code] ?? message, response.status, retryAfter)
}

export function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault)
}

export function isJson(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('application/json') ?? false
}
