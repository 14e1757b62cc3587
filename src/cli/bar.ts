// A progress bar on stderr. The bar uses one line, and each state overwrites the previous state. Nothing is printed if
// stderr is not a terminal.

import { terminal } from './terminal.ts'

export type Bar = { show(line: string): void; end(): void }

export function openBar(): Bar {
  const isTerminal = terminal.isTerminal('err')
  const show = (line: string) => {
    if (isTerminal) terminal.err(`\r\u001b[K${cut(line, (process.stderr.columns || 80) - 1)}`)
  }
  return { show, end: () => show('') }
}

/** Returns a bar of `width` characters, such as `#####-----`. `share` is the completed share, from 0 to 1. */
export function barOf(share: number, width = 24): string {
  const full = Math.round(Math.min(Math.max(share, 0), 1) * width)
  return '#'.repeat(full) + '-'.repeat(width - full)
}

/**
 * Returns the start of a text that fits into one line of `columns` columns. A Chinese character takes two columns. A
 * longer text would continue on a second line, which the next state of the bar could not overwrite.
 */
export function cut(text: string, columns: number): string {
  let fitting = ''
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (Bun.stringWidth(fitting + segment) > columns) return fitting
    fitting += segment
  }
  return fitting
}
