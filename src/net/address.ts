// Decides to which IP addresses a request may connect if a caller supplied its URL. These are the addresses that the
// operator has allowed, and those of the public internet, except the addresses of this machine.

import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { groupsOf, lastIpv4, type Nets, parseNets, plainAddress } from './nets.ts'

/**
 * The ranges of IP addresses that do not belong to the public internet. For IPv6, only ranges inside `globalIpv6` are
 * listed. Outside of `globalIpv6`, only NAT64 addresses of public IPv4 addresses are public.
 */
const special = {
  ipv4: [
    '0.0.0.0/8', // reserved, not a destination; but the kernel connects 0.0.0.0 to this machine
    '10.0.0.0/8', // private
    '100.64.0.0/10', // carrier-grade NAT; the metadata service of some clouds
    '127.0.0.0/8', // loopback
    '168.63.129.16', // the host agent on Azure: internal, although the address looks public
    '169.254.0.0/16', // link-local; the metadata service of most clouds
    '172.16.0.0/12', // private
    '192.0.0.0/24', // reserved for special protocols
    '192.0.2.0/24', // reserved for examples in documentation
    '192.88.99.0/24', // relays of 6to4, a deprecated protocol
    '192.168.0.0/16', // private
    '198.18.0.0/15', // reserved for benchmarks of networks
    '198.51.100.0/24', // reserved for examples in documentation
    '203.0.113.0/24', // reserved for examples in documentation
    '224.0.0.0/4', // multicast
    '240.0.0.0/4', // reserved for future use, and broadcast
  ],
  ipv6: [
    '2001::/23', // reserved for special protocols, such as Teredo and ORCHID
    '2001:db8::/32', // reserved for examples in documentation
    '2002::/16', // 6to4: an address can lead to any IPv4 address
    '3fff::/20', // reserved for examples in documentation
  ],
}

/**
 * The range that contains all public IPv6 addresses except NAT64 addresses. Loopback, link-local, unique local and
 * site-local addresses are outside this range.
 */
const globalIpv6 = ['2000::/3']

type Table = { special4: Nets; special6: Nets; global6: Nets }

let table: Table | null = null

/** Returns the ranges as networks. They are parsed at the first use, because parsing them takes a millisecond. */
function openTable(): Table {
  table ??= {
    special4: netsOf(special.ipv4),
    special6: netsOf(special.ipv6),
    global6: netsOf(globalIpv6),
  }
  return table
}

/**
 * Returns true if a request to a URL of a caller may connect to this IP address. An address in `allowNets` is always
 * allowed. Any other address must be public and not in `own`, the addresses of this machine.
 */
export function reachable(address: string, allowNets: Nets, own: Nets = ownAddresses()): boolean {
  return (isPublic(address) && !isListed(address, own)) || isListed(address, allowNets)
}

/**
 * Returns the IP addresses of this machine. A user of the API can give steno a URL, which steno then opens. Such a URL
 * must not lead to this machine, because the connection would not pass through the machine's firewall.
 */
function ownAddresses(): Nets {
  const all = Object.values(networkInterfaces()).flatMap(each => each ?? [])
  return netsOf(all.map(({ address }) => plainAddress(address)))
}

function isPublic(address: string): boolean {
  const plain = plainAddress(address)
  const { special4, special6, global6 } = openTable()
  if (isIP(plain) === 4) return !special4.has(plain)
  const behind = behindNat64(plain)
  if (behind !== null) return isPublic(behind)
  return global6.has(plain) && !special6.has(plain)
}

/** Returns true if `nets` contains the IP address, or the IPv4 address to which a NAT64 address leads. */
export function isListed(address: string, nets: Nets): boolean {
  const plain = plainAddress(address)
  const behind = behindNat64(plain)
  return nets.has(plain) || (behind !== null && nets.has(behind))
}

/** Returns the IP address in a URL. Returns null if the host of the URL is a name. */
export function literalAddress(url: URL): string | null {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(host) === 0 ? null : host
}

/**
 * Returns the IPv4 address in the last 32 bits of a NAT64 address (64:ff9b::/96). Returns null for any other address.
 */
function behindNat64(address: string): string | null {
  if (isIP(address) !== 6) return null
  const groups = groupsOf(address)
  const nat64 = groups[0] === 0x64 && groups[1] === 0xff9b && groups.slice(2, 6).every(group => group === 0)
  return nat64 ? lastIpv4(groups) : null
}

function netsOf(rows: string[]): Nets {
  const nets = parseNets(rows.join(','))
  if (!nets) throw new Error('a row of the address table is not a network')
  return nets
}
