// Prints the result of a command to stdout.

import { visible } from '../base/visible.ts'
import { terminal } from './terminal.ts'

/**
 * Prints the result of a command: `record` as one JSON document if `json` is true, otherwise the lines that `lines`
 * returns. The lines may contain texts that a caller of the service has chosen, such as the name of a key, so their
 * control characters are escaped.
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
