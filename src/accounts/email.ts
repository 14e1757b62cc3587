// Validates email addresses, and converts them to the form that the database stores.

import { domainToASCII } from 'node:url'
import { limits } from '../limits.ts'

/**
 * Matches the part of an email address before the @. RFC 6531 allows letters of any script. The quoted form is not
 * accepted, such as `"ana b"@example.org`.
 */
const local = /^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u
const domain = /^[\p{L}\p{N}\p{M}.-]+$/u
const label = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/

/**
 * Returns the address in normalised Unicode (NFC), without spaces at its ends and with its domain in lower-case ASCII.
 * Returns null for an invalid address. The part before the @ keeps its case, because a mail server may distinguish
 * upper and lower case.
 */
export function normalEmail(text: string): string | null {
  const [mailbox = '', host = '', ...more] = text.trim().normalize('NFC').split('@')
  if (more.length > 0 || !local.test(mailbox) || !domain.test(host)) return null
  const ascii = domainToASCII(host).toLowerCase()
  const labels = ascii.split('.')
  if (!labels.every(part => label.test(part)) || /^\d+$/.test(labels.at(-1) ?? '')) return null
  const email = `${mailbox}@${ascii}`
  const fits =
    Buffer.byteLength(mailbox) <= limits.emailLocalBytesMax &&
    Buffer.byteLength(email) <= limits.emailLengthMax
  return fits ? email : null
}
