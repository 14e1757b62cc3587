// Parses lists of networks such as `127.0.0.0/8,10.0.0.0/8,fd00::/8,192.0.2.7`. Also converts IPv4-mapped IPv6
// addresses to IPv4.

import { BlockList, isIP } from 'node:net'

export type Nets = { has(address: string): boolean; empty: boolean }

/**
 * Parses a list of networks that are separated by commas. Returns null if an entry is neither an IP address nor a CIDR
 * range.
 */
export function parseNets(text: string): Nets | null {
  const list = new BlockList()
  const parts = text
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')
  for (const part of parts) {
    const [, address = '', prefix] = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(part) ?? []
    const version = isIP(address)
    const bits = version === 4 ? 32 : 128
    if (version === 0 || Number(prefix ?? bits) > bits) return null
    list.addSubnet(address, Number(prefix ?? bits), version === 4 ? 'ipv4' : 'ipv6')
  }
  return { has: address => listed(list, plainAddress(address)), empty: parts.length === 0 }
}

/**
 * Removes a zone such as `%eth0` from an IP address. Converts an IPv4-mapped IPv6 address such as `::ffff:192.0.2.7` to
 * IPv4: a dual-stack socket reports IPv4 addresses in this form.
 */
export function plainAddress(address: string): string {
  const bare = address.replace(/%.*$/, '')
  if (isIP(bare) !== 6) return bare
  const groups = groupsOf(bare)
  const isMapped = groups.slice(0, 5).every(group => group === 0) && groups[5] === 0xffff
  return isMapped ? lastIpv4(groups) : bare
}

/**
 * Returns the eight 16-bit groups of a valid IPv6 address. The URL parser first converts the address to its shortest
 * form.
 */
export function groupsOf(address: string): number[] {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = [], tail = []] = canonical
    .split('::')
    .map(part => (part === '' ? [] : part.split(':').map(group => Number.parseInt(group, 16))))
  return [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail]
}

/**
 * Returns the IPv4 address in the last 32 bits of an IPv6 address. `groups` holds the eight 16-bit groups of the IPv6
 * address.
 */
export function lastIpv4(groups: number[]): string {
  return groups
    .slice(6)
    .flatMap(group => [group >> 8, group & 0xff])
    .join('.')
}

function listed(list: BlockList, address: string): boolean {
  const version = isIP(address)
  return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6')
}
