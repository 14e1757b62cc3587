// Resolves host names by queries on the event loop. The system function getaddrinfo would occupy a thread of the thread
// pool. File writes need these threads, so slow name servers could block all uploads.

import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { dns } from '../base/late-modules.ts'
import { openSemaphore } from '../base/semaphore.ts'
import { limits } from '../limits.ts'

/** Returns all IP addresses of a host name. If no address is found, rejects or returns an empty list. */
export type Resolve = (name: string) => Promise<string[]>

export type NameOptions = {
  /** The IP addresses of the name servers to use, in place of the name servers in /etc/resolv.conf. */
  servers?: string[]
  hostsFile?: string
  /** The maximum number of look-ups of host names that run at the same time. */
  resolvesMax?: number
  /** A monotonic clock: returns the time in milliseconds. Only tests replace it. */
  now?: () => number
}

/**
 * Finds the IP addresses of a host name. If many look-ups wait, the accounts take turns. All look-ups without an
 * `accountId` count as one account.
 */
export type Names = (name: string, accountId?: string) => Promise<string[]>

/**
 * Returns a function that looks up a host name in the hosts file, and then at the name servers. If the name servers
 * give no address for a name, this is remembered for `unknownNameMs`. During this time, they are not asked for this
 * name again. If many look-ups wait, the accounts take turns. Simultaneous look-ups of one name by one account share
 * their queries.
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

/**
 * A negative cache: it stores for `unknownNameMs` that a look-up found no address. This includes look-ups that no name
 * server answered. When the cache is full, the oldest name is removed.
 */
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

/**
 * Asks the name servers for the addresses of a host name. Returns an empty list if they know no address, or if none of
 * them answers in time.
 */
async function ask(name: string, servers: string[] | undefined): Promise<string[]> {
  const resolver = new (dns().Resolver)({ timeout: limits.resolveTryMs, tries: limits.resolveTriesMax })
  if (servers) resolver.setServers(servers)
  const late = setTimeout(() => resolver.cancel(), limits.resolveTimeoutMs)
  const [four, six] = await Promise.all([
    resolver.resolve4(name).catch(() => []),
    resolver.resolve6(name).catch(() => []),
  ])
  clearTimeout(late)
  // IPv4 and IPv6 addresses alternate, because the caller tries only the first addresses, and the machine may support
  // only IPv4 or only IPv6.
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

/** Reads the entries of the hosts file. The file is read again at each call, because the operator may change it. */
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
