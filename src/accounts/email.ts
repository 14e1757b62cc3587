// Which text is a mail address, and the one form in which we keep it.

import { domainToASCII } from 'node:url'
import { limits } from '../limits.ts'

/** What may stand before the @ without quotes; letters of any script are allowed since RFC 6531. */
const local = /^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u
const domain = /^[\p{L}\p{N}\p{M}.-]+$/u
const label = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/

/**
 * Without white space around it, the domain in lower case and ASCII, so that one mailbox is one account.
 * Null when it is no address. What stands before the @ keeps its case: only its own server knows whether it counts.
 */
export function normalEmail(text: string): string | null {
  const [mailbox = '', host = '', ...more] = text.trim().normalize('NFC').split('@')
  if (more.length > 0 || !local.test(mailbox) || !domain.test(host)) return null
  const ascii = domainToASCII(host).toLowerCase()
  const labels = ascii.split('.')
  if (!labels.every(each => label.test(each)) || /^\d+$/.test(labels.at(-1)!)) return null
  const email = `${mailbox}@${ascii}`
  const fits =
    Buffer.byteLength(mailbox) <= limits.emailLocalBytesMax &&
    Buffer.byteLength(email) <= limits.emailLengthMax
  return fits ? email : null
}
