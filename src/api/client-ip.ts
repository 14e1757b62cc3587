// Finds the address of the caller behind trusted proxies.

import { isIP } from 'node:net'
import { groupsOf, type Nets, plainAddress } from '../net/nets.ts'

/**
 * Returns the right-most address in X-Forwarded-For that is not a trusted proxy. The header is ignored unless the
 * request comes from a trusted proxy.
 */
export function callerIp(peer: string, forwardedFor: string | null, trustProxy: Nets): string {
  const address = plainAddress(peer)
  if (forwardedFor === null || !trustProxy.has(address)) return address
  const hops = forwardedFor.split(',').map(hop => plainAddress(hop.trim()))
  let caller = address
  for (const hop of hops.reverse()) {
    if (isIP(hop) === 0) break
    caller = hop
    if (!trustProxy.has(hop)) break
  }
  return caller
}

/** Whose quota a request counts to: the address, or with IPv6 its /64, of which a single caller has every address. */
export function networkOf(ip: string): string {
  if (isIP(ip) !== 6) return ip
  const network = groupsOf(ip).slice(0, 4)
  return `${network.map(group => group.toString(16)).join(':')}::/64`
}
