// Says why the server cannot listen on an address, and which setting names another address or port.

import { reasonOf } from '../base/reason.ts'

const problems: Record<string, string> = {
  ENOENT: 'the host name is unknown; STENO_HOST names another one',
  EAGAIN: 'no name server answers, or the host name is unknown; STENO_HOST names another one',
  EADDRINUSE: 'the port is in use, or the host name is unknown; STENO_PORT names another port',
  EADDRNOTAVAIL: 'this machine has no such address; STENO_HOST names another one',
  EACCES: 'only root may use this port; STENO_PORT names another one',
}

export function listenProblem(error: unknown): string {
  return problems[(error as NodeJS.ErrnoException).code ?? ''] ?? reasonOf(error)
}
