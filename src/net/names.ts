// Resolves host names over sockets on the event loop. getaddrinfo would use the thread pool that file writes need too:
// two name servers that never answered blocked every upload.

import { Resolver } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { openSemaphore } from '../base/semaphore.ts'
import { limits } from '../limits.ts'

/** Returns all addresses of a name. Rejects, or returns an empty list, when the name does not exist. */
export type Resolve = (name: string) => Promise<string[]>

export type NameOptions = {
  /** Name servers. They replace those in /etc/resolv.conf. */
  servers?: string[]
  hostsFile?: string
  /** Maximum number of concurrent look-ups. */
  resolvesMax?: number
  /** A monotonic clock, in milliseconds. */
  now?: () => number
}

/** Resolves a name for an account. Look-ups without an account share one turn. */
export type Names = (name: string, accountId?: string) => Promise<string[]>

/**
 * Reads the hosts file, then asks name servers. Accounts take turns. Concurrent look-ups of one name by one account are
 * sent once.
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

/** A negative cache: names without addresses. Each is kept for `unknownNameMs`; the oldest is evicted first. */
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

/** Returns an empty list when the name is unknown, or when no server answers in time. */
async function ask(name: string, servers: string[] | undefined): Promise<string[]> {
  const resolver = new Resolver({ timeout: limits.resolveTryMs, tries: limits.resolveTriesMax })
  if (servers) resolver.setServers(servers)
  const late = setTimeout(() => resolver.cancel(), limits.resolveTimeoutMs)
  const [four, six] = await Promise.all([
    resolver.resolve4(name).catch(() => []),
    resolver.resolve6(name).catch(() => []),
  ])
  clearTimeout(late)
  // IPv4 and IPv6 addresses alternate: the list is cut off after a few, and a machine may have only one of the two.
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

/** Reads the file each time: it is small, and an operator may change it. */
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
