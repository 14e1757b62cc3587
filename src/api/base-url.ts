// The base URL of the service, as callers see it.

import { hostname } from 'node:os'
import { type Config, listeningUrl } from '../config.ts'

/**
 * Returns the base URL of the service. The Host header of `request` may determine the host. Pass no request for a URL
 * in a mail: a caller could otherwise choose the host in the mail.
 */
export type BaseUrl = (request?: Request) => string

/** Matches a listening address for all addresses of the machine: 0.0.0.0, or :: in any spelling. */
const wildcard = /^(0\.0\.0\.0|[0:]+)$/
const loopback = /^(127(\.\d+){3}|::1|localhost)$/
/** Matches a valid Host header: a host name or an IP address, and an optional port. */
const hostHeader = /^([a-z0-9]([a-z0-9.-]{0,252}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(:\d{1,5})?$/i

/** Returns the function that makes base URLs. `port` returns the port on which the server listens. */
export function openBaseUrl({ baseUrl, host }: Config, port: () => number): BaseUrl {
  return request => {
    if (baseUrl !== null) return baseUrl
    const asked = request?.headers.get('host') ?? ''
    const name = hostHeader.test(asked) ? URL.parse(`http://${asked}`)?.hostname : undefined
    if (!wildcard.test(host)) {
      // A loopback address has several names, such as 127.0.0.1 and localhost. An OAuth client uses one of them, and
      // refuses a base URL with a different name. If the server listens on a loopback address, the base URL therefore
      // contains the name from the Host header.
      const isSameMachine = loopback.test(host) && name !== undefined && loopback.test(bare(name))
      return isSameMachine ? `http://${asked.toLowerCase()}` : listeningUrl({ host, port: port() })
    }
    return name === undefined
      ? listeningUrl({ host: hostname(), port: port() })
      : `http://${asked.toLowerCase()}`
  }
}

/** Removes the brackets of an IPv6 address: `[::1]` becomes `::1`. */
function bare(name: string): string {
  return name.replace(/^\[(.*)\]$/, '$1')
}
