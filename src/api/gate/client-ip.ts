// Finds the IP address of the caller, even if the request came through trusted proxies.

import { isIP } from 'node:net'
import { groupsOf, type Nets, plainAddress } from '../../net/nets.ts'

/**
 * Returns the IP address of the caller: `peer` (the other end of the connection), unless it is a trusted proxy. Behind
 * a trusted proxy, reads the header X-Forwarded-For from its last address to its first, and stops at an invalid
 * address. The caller is the first address in this order that is not a trusted proxy. If there is none, the caller is
 * the last address that was read, or `peer`.
 */
export function callerIp(peer: string, forwardedFor: string | null, trustProxy: Nets): string {
  const address = plainAddress(peer)
  if (forwardedFor === null || !trustProxy.has(address)) return address
  const hops = forwardedFor.split(',').map(hop => plainAddress(withoutPort(hop.trim())))
  let caller = address
  for (const hop of hops.reverse()) {
    if (isIP(hop) === 0) break
    caller = hop
    if (!trustProxy.has(hop)) break
  }
  return caller
}

/** Removes the port that some proxies add, and the brackets: `192.0.2.1:5123` or `[2001:db8::1]:5123`. */
function withoutPort(hop: string): string {
  return hop.replace(/^\[(.*)\](:\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1')
}

/**
 * Returns the name under which the rate limits count the requests from an address. For IPv4, the name is the address.
 * For IPv6, it is the /64 network, because one caller usually has the whole network.
 */
export function networkOf(ip: string): string {
  if (isIP(ip) !== 6) return ip
  const network = groupsOf(ip).slice(0, 4)
  return `${network.map(group => group.toString(16)).join(':')}::/64`
}
