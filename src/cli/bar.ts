// A progress bar on stderr that overwrites its line. Prints nothing when stderr is not a terminal.

export type Bar = { show(line: string): void; end(): void }

export function openBar(): Bar {
  const isTerminal = process.stderr.isTTY === true
  const show = (line: string) => {
    if (isTerminal) process.stderr.write(`\r\u001b[K${line.slice(0, (process.stderr.columns ?? 80) - 1)}`)
  }
  return { show, end: () => show('') }
}

/** Draws `#####-----` with `width` characters. */
export function barOf(share: number, width = 24): string {
  const full = Math.round(Math.min(Math.max(share, 0), 1) * width)
  return '#'.repeat(full) + '-'.repeat(width - full)
}
