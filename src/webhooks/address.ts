// Checks the webhook address of a new job or of an account. Each delivery checks the address again.

import { limits } from '../limits.ts'
import { isListed, literalAddress, reachable } from '../net/address.ts'
import { addressesOf, permitted } from '../net/connect.ts'
import { isWeb, type Resolve } from '../net/fetch.ts'
import type { Nets } from '../net/nets.ts'

/**
 * Returns the reason why a webhook address is refused, or null if it is accepted. An https host name is not looked up
 * here: each delivery checks its IP addresses. A plain http address must lead to an IP address in `allowNets`.
 */
export async function checkWebhookUrl(
  address: string,
  { allowNets, resolve }: { allowNets: Nets; resolve?: Resolve | undefined },
): Promise<string | null> {
  if (address.length > limits.urlLengthMax) {
    return `webhook_url is longer than ${limits.urlLengthMax} characters.`
  }
  const url = URL.parse(address)
  if (!url || !isWeb(url)) return 'webhook_url is not an http or https address.'
  const literal = literalAddress(url)
  if (url.protocol === 'https:') {
    return literal === null || reachable(literal, allowNets) ? null : privateNetwork
  }
  if (literal !== null) return isListed(literal, allowNets) ? null : plainHttp
  if (allowNets.empty) return plainHttp
  const stop = AbortSignal.timeout(limits.resolveTimeoutMs)
  const addresses = await addressesOf(url, resolve, stop)
  if (addresses === null) return 'The host name of webhook_url could not be found.'
  return permitted(addresses, url, { allowNets, httpsOnly: true }).length > 0 ? null : plainHttp
}

const privateNetwork = 'webhook_url leads into a private or reserved network.'
const plainHttp = 'webhook_url must use https; plain http is only for networks that the operator has allowed.'
