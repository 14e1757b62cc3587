// Messages for callers about a web address from which no complete file can be downloaded. A message names the cause,
// but never an address of the internal network.

import { http } from '../base/late-modules.ts'
import { limits } from '../limits.ts'
import type { TlsCause } from './connect.ts'
import type { FetchFailure } from './fetch.ts'
import type { NoFile } from './share-links.ts'

const failures: Record<Exclude<FetchFailure['kind'], 'tls'>, string> = {
  'bad-url': 'The address, or one that it redirects to, is not a valid URL.',
  'bad-scheme': 'Only http and https addresses can be read.',
  'unknown-name': 'The host name of the address could not be found (DNS).',
  'forbidden-address': 'The address leads into a private or reserved network, which is not allowed.',
  refused: 'The connection to the server was refused or could not be made.',
  'connect-timeout': 'The server could not be reached in time.',
  'answer-timeout': 'The server accepted the connection but did not answer in time.',
  'broken-answer': 'The server closed the connection without a valid HTTP answer.',
  'too-many-redirects': `The address redirects more than ${limits.mediaRedirectsMax} times.`,
}

const certificates: Record<TlsCause, string> = {
  name: 'The TLS certificate of the server is for a different host name.',
  expired: 'The TLS certificate of the server has expired or is not valid yet.',
  authority: 'The TLS certificate of the server does not come from a trusted authority.',
  handshake: 'No secure connection (TLS) to the server could be made.',
}

export const causes = {
  page: 'The address leads to a web page (HTML), not to a media file.',
  signIn: 'The address leads to a sign-in page; the file must be public without sign-in.',
  empty: 'The server answered with an empty body.',
  encoding: 'The server sent the file in an encoding that cannot be decoded.',
  interrupted: 'The download began but was interrupted, and could not be resumed.',
  stalled: 'The download began but stalled: the server sent too little for too long.',
  undecodable: 'The download does not decode as the Content-Encoding that the server stated.',
} as const

export const noFileCauses: Record<NoFile, string> = {
  folder: 'The address is a share of a folder; share the media file itself.',
  'own-app': 'Shares of this service open in its own pages alone; use a direct link to the media file.',
}

export function causeOf(failure: FetchFailure): string {
  return failure.kind === 'tls' ? certificates[failure.cause] : failures[failure.kind]
}

export function causeOfStatus(status: number): string {
  if (status === 401 || status === 407) return `The server asks for a sign-in (HTTP ${status}).`
  const phrase = http().STATUS_CODES[status]
  return `The server answered HTTP ${status}${phrase ? ` (${phrase})` : ''}.`
}
