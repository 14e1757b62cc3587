// Finds the IP address of the caller, even if the request came through trusted proxies.

import { isIP } from 'node:net'
import { groupsOf, type Nets, plainAddress } from '../../net/nets.ts'

/**
 * Returns the IP address of the caller: `peer`, unless it is a trusted proxy. The header X-Forwarded-For is read from
 * its end up to the first address that is no trusted proxy, or that is invalid. The caller is the last valid address
 * that was read, or `peer` if there is none.
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

/** Removes the port that some proxies add: `192.0.2.1:5123` or `[2001:db8::1]:5123`. */
function withoutPort(hop: string): string {
  return hop.replace(/^\[(.*)\](:\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1')
}

/**
 * Returns the name under which the rate limits count the requests from an address. It is the address for IPv4, and the
 * /64 network for IPv6, because one caller usually has all addresses of a /64.
 */
export function networkOf(ip: string): string {
  if (isIP(ip) !== 6) return ip
  const network = groupsOf(ip).slice(0, 4)
  return `${network.map(group => group.toString(16)).join(':')}::/64`
}
