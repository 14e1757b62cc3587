// Host names to addresses, over sockets on the event loop. getaddrinfo runs on the thread pool that file writes need: two
// name servers that never answer stopped every upload.

import { Resolver } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { openSemaphore } from '../base/semaphore.ts'
import { limits } from '../limits.ts'

/** All addresses of a name. Rejects, or gives none, when there is no such name. */
export type Resolve = (name: string) => Promise<string[]>

export type NameOptions = {
  /** Name servers, in place of those in /etc/resolv.conf. */
  servers?: string[]
  hostsFile?: string
  /** Look-ups at the same time. */
  resolvesMax?: number
  /** The time of a clock that is never set back, in milliseconds. */
  now?: () => number
}

/** Gives the addresses of a name for an account. Look-ups that no account asked for share one turn. */
export type Names = (name: string, accountId?: string) => Promise<string[]>

/**
 * Looks in the hosts file, then asks name servers. Accounts take turns. Look-ups of one name by one account at the same
 * time are one.
 */
export function openNames({
  servers,
  hostsFile = '/etc/hosts',
  resolvesMax = limits.resolvesMax,
  now = () => performance.now(),
}: NameOptions = {}): Names {
  const places = openSemaphore(resolvesMax)
  const underWay = new Map<string, Promise<string[]>>()
  const unknown = openUnknown(now)

  async function lookUp(name: string, accountId: string): Promise<string[]> {
    const addresses = await places.run(accountId, () => ask(name, servers))
    if (addresses.length === 0) unknown.add(name)
    return addresses
  }

  return async (given, accountId = '') => {
    const name = given.toLowerCase().replace(/\.$/, '')
    const local = localAddresses(name, hostsFile)
    if (local.length > 0) return local
    if (unknown.has(name)) return []
    const asked = `${accountId} ${name}`
    const pending = underWay.get(asked) ?? lookUp(name, accountId).finally(() => underWay.delete(asked))
    underWay.set(asked, pending)
    return pending
  }
}

/** Names without addresses. Each is kept for a while, the oldest go first. */
function openUnknown(now: () => number): { add(name: string): void; has(name: string): boolean } {
  const untilMs = new Map<string, number>()
  return {
    add(name) {
      untilMs.delete(name)
      untilMs.set(name, now() + limits.unknownNameMs)
      const [oldest] = untilMs.keys()
      if (oldest !== undefined && untilMs.size > limits.unknownNamesMax) untilMs.delete(oldest)
    },
    has: name => (untilMs.get(name) ?? 0) > now(),
  }
}

/** Empty when the name is unknown, or when no server answers in time. */
async function ask(name: string, servers: string[] | undefined): Promise<string[]> {
  const resolver = new Resolver({ timeout: limits.resolveTryMs, tries: limits.resolveTriesMax })
  if (servers) resolver.setServers(servers)
  const late = setTimeout(() => resolver.cancel(), limits.resolveTimeoutMs)
  const [four, six] = await Promise.all([
    resolver.resolve4(name).catch(() => []),
    resolver.resolve6(name).catch(() => []),
  ])
  clearTimeout(late)
  // In turn: the list is cut off after a few addresses, and a box may have only one of the two protocols.
  const longer = Math.max(four.length, six.length)
  return Array.from({ length: longer }, (_, at) => [four[at], six[at]])
    .flat()
    .filter(address => address !== undefined)
}

function localAddresses(name: string, hostsFile: string): string[] {
  const listed = readHosts(hostsFile)
    .filter(({ names }) => names.includes(name))
    .map(({ address }) => address)
  if (listed.length > 0) return listed
  return name === 'localhost' || name.endsWith('.localhost') ? ['127.0.0.1', '::1'] : []
}

/** Read anew each time: the file is small, and an operator may change it. */
function readHosts(path: string): { address: string; names: string[] }[] {
  return textOf(path)
    .split('\n')
    .map(line => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/))
    .map(([address = '', ...names]) => ({ address, names }))
    .filter(({ address }) => isIP(address) !== 0)
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
