// Finds the IP address of the caller, even if the request came through trusted proxies.

import { isIP } from 'node:net'
import { groupsOf, type Nets, plainAddress } from '../../net/nets.ts'

/**
 * Returns the IP address of the caller. `peer` is the other end of the connection, and `forwardedFor` is the header
 * X-Forwarded-For. If `peer` is not a trusted proxy, the caller is `peer`. Otherwise, the addresses in the header are
 * read from the end, until an address is not a trusted proxy. An invalid address also ends the reading. The caller is
 * the last valid address that was read, or `peer` if there is none.
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
 * Returns the name under which the rate limits count the requests from an address: the address itself for IPv4, and
 * its /64 network for IPv6, because one caller usually has all addresses of a /64.
 */
export function networkOf(ip: string): string {
  if (isIP(ip) !== 6) return ip
  const network = groupsOf(ip).slice(0, 4)
  return `${network.map(group => group.toString(16)).join(':')}::/64`
}
