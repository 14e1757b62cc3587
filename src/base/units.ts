// Durations and sizes as people write them in settings and read them in messages.

const durationUnits = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const sizeUnits = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 } as const

/** `250ms`, `2s`, `30m`, `24h`, `7d` in milliseconds. Null when it is not a duration. */
export function parseDuration(text: string): number | null {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim()) ?? []
  return amount && unit
    ? Math.round(Number(amount) * durationUnits[unit as keyof typeof durationUnits])
    : null
}

/** `100KB`, `5GB` in bytes. Null when it is not a size. */
export function parseSize(text: string): number | null {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(B|KB|MB|GB|TB)$/i.exec(text.trim()) ?? []
  return amount && unit
    ? Math.round(Number(amount) * sizeUnits[unit.toUpperCase() as keyof typeof sizeUnits])
    : null
}

/** 5368709120 is `5 GB`. */
export function formatSize(bytes: number): string {
  const [unit, size] = Object.entries(sizeUnits).findLast(([, size]) => bytes >= size) ?? ['B', 1]
  return `${Number((bytes / size).toFixed(1))} ${unit}`
}

/** 36_000_000 is `10 hours`, 11_700 is `11.7 seconds`. */
export function formatDuration(durationMs: number): string {
  const [amount, unit] =
    durationMs >= durationUnits.h
      ? [durationMs / durationUnits.h, 'hour']
      : durationMs >= 2 * durationUnits.m
        ? [durationMs / durationUnits.m, 'minute']
        : [durationMs / durationUnits.s, 'second']
  const shown = Number(amount.toFixed(2))
  return `${shown} ${unit}${shown === 1 ? '' : 's'}`
}
