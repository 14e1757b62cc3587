// Prints the result of a command to stdout.

import { visible } from '../base/visible.ts'
import { terminal } from './terminal.ts'

/**
 * Prints the result of a command: `record` as one JSON document if `json` is true, otherwise `lines`. Escapes control
 * characters in the lines, because callers of the service chose some texts, such as key names.
 */
export function print(
  { json }: { json?: boolean | undefined },
  record: unknown,
  lines: () => string | string[],
): void {
  say(...(json ? [JSON.stringify(record)] : [lines()].flat().map(visible)))
}

/** Prints each of `lines` to stdout, with a line break. */
export function say(...lines: string[]): void {
  terminal.out(lines.map(line => `${line}\n`).join(''))
}
