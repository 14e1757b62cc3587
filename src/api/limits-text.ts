// Describes the limits of a JSON schema in words, for the docs page and error messages.

export type Limited = {
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  maxItems?: number
  format?: string
}

export function limitsOf({ minimum, maximum, minLength, maxLength, maxItems, format }: Limited): string {
  const parts = [
    range(minimum, maximum, ''),
    range(minLength, maxLength, ' characters'),
    range(undefined, maxItems, ' items'),
    format ?? '',
  ]
  return parts.filter(part => part !== '').join('; ')
}

function range(min: number | undefined, max: number | undefined, unit: string): string {
  if (min === undefined && max === undefined) return ''
  if (max === undefined) return `from ${min}${unit}`
  return min === undefined ? `up to ${max}${unit}` : `${min} to ${max}${unit}`
}
