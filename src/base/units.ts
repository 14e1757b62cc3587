// Parses and formats durations, sizes and counts, for settings and messages.

const durationUnits = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const sizeUnits = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 } as const

/** Converts `250ms`, `2s`, `30m`, `24h` or `7d` to milliseconds. Returns null for an invalid duration. */
export function parseDuration(text: string): number | null {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim()) ?? []
  return amount && unit
    ? Math.round(Number(amount) * durationUnits[unit as keyof typeof durationUnits])
    : null
}

/** Converts `100KB` or `5GB` to bytes. Returns null for an invalid size. */
export function parseSize(text: string): number | null {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(B|KB|MB|GB|TB)$/i.exec(text.trim()) ?? []
  return amount && unit
    ? Math.round(Number(amount) * sizeUnits[unit.toUpperCase() as keyof typeof sizeUnits])
    : null
}

/** Formats a size in bytes, for example 5368709120 as `5 GB`. */
export function formatSize(bytes: number): string {
  const [unit, size] = Object.entries(sizeUnits).findLast(([, size]) => bytes >= size) ?? ['B', 1]
  return `${Number((bytes / size).toFixed(1))} ${unit}`
}

/** Formats a duration in milliseconds, for example 36_000_000 as `10 hours`, and 11_700 as `11.7 seconds`. */
export function formatDuration(durationMs: number): string {
  const [amount, unit] =
    durationMs >= durationUnits.h
      ? [durationMs / durationUnits.h, 'hour']
      : durationMs >= 2 * durationUnits.m
        ? [durationMs / durationUnits.m, 'minute']
        : [durationMs / durationUnits.s, 'second']
  const shown = Number(amount.toFixed(2))
  return formatCount(shown, unit)
}

/** Formats a number of seconds as minutes and seconds: `7:53`, or `1:02:03` from one hour on. */
export function formatClock(seconds: number): string {
  const whole = Math.floor(seconds)
  const two = (part: number) => String(part).padStart(2, '0')
  const short = `${Math.floor(whole / 60) % 60}:${two(whole % 60)}`
  return whole < 3600 ? short : `${Math.floor(whole / 3600)}:${short.padStart(5, '0')}`
}

/** Formats a count with the name of what is counted, for example `1 job` or `2 jobs`. */
export function formatCount(count: number, name: string): string {
  return `${count} ${name}${count === 1 ? '' : 's'}`
}
