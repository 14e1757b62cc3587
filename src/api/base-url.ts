// The address of the service as callers see it.

import { hostname } from 'node:os'
import { type Config, listeningUrl } from '../config.ts'

/** Gives the address for the answer to a request. Without one, as in a mail, the caller has no say in it. */
export type BaseUrl = (request?: Request) => string

/** Every address of the machine, in any spelling: no caller can connect to it under this name. */
const wildcard = /^(0\.0\.0\.0|[0:]+)$/
/** A name or an address, and a port. */
const hostHeader = /^([a-z0-9]([a-z0-9.-]{0,252}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(:\d{1,5})?$/i

/** `port` gives the real port once the server listens. */
export function openBaseUrl({ baseUrl, host }: Config, port: () => number): BaseUrl {
  return request => {
    if (baseUrl !== null) return baseUrl
    if (!wildcard.test(host)) return listeningUrl({ host, port: port() })
    const asked = request?.headers.get('host') ?? ''
    return hostHeader.test(asked) && URL.canParse(`http://${asked}`)
      ? `http://${asked.toLowerCase()}`
      : listeningUrl({ host: hostname(), port: port() })
  }
}
