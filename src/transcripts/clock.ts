// Writes times in the form `12:30` or `01:12:30`, for exported files.

export function clock(ms: number, hours: boolean): string {
  const seconds = Math.floor(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  const shown = hours ? [Math.floor(minutes / 60), minutes % 60, seconds % 60] : [minutes, seconds % 60]
  return shown.map(part => pad(part, 2)).join(':')
}

export function pad(number: number, digits: number): string {
  return String(number).padStart(digits, '0')
}
