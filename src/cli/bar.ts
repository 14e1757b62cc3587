// A progress bar on stderr. Each new state overwrites the line of the previous state. If stderr is not a terminal,
// nothing is printed.

import { terminal } from './terminal.ts'

export type Bar = { show(line: string): void; end(): void }

export function openBar(): Bar {
  const isTerminal = terminal.isTerminal('err')
  const show = (line: string) => {
    if (isTerminal) terminal.err(`\r\u001b[K${line.slice(0, (process.stderr.columns || 80) - 1)}`)
  }
  return { show, end: () => show('') }
}

/**
 * Returns a bar such as `#####-----` with `width` characters. `share` is the completed part, from 0 to 1.
 */
export function barOf(share: number, width = 24): string {
  const full = Math.round(Math.min(Math.max(share, 0), 1) * width)
  return '#'.repeat(full) + '-'.repeat(width - full)
}
