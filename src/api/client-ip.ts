// Whose request this is, as far as the network tells.

import { isIP } from 'node:net'
import { type Nets, plainAddress } from '../net/nets.ts'

/** The address of the caller: the right-most of X-Forwarded-For that is no proxy of ours, if a proxy of ours is calling. */
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
