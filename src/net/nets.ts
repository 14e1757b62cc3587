// Sets of addresses as operators write them: `127.0.0.0/8,10.0.0.0/8,fd00::/8,192.0.2.7`.

import { BlockList, isIP } from 'node:net'

export type Nets = { has(address: string): boolean; empty: boolean }

/** Null when a part is neither an address nor a CIDR. */
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

/** A caller that reaches a dual-stack socket over IPv4 shows up as `::ffff:192.0.2.7`. */
export function plainAddress(address: string): string {
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? []
  return mapped ?? address
}

function listed(list: BlockList, address: string): boolean {
  const version = isIP(address)
  return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6')
}
