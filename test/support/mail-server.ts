// A real SMTP server on the loopback address. With options of the npm package smtp-server, it simulates faults.

import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export type Received = { from: string; to: string[]; user: string | null; secure: boolean; raw: string }

export type MailServer = {
  /** Returns the value of STENO_SMTP_URL for this server. */
  url(credentials?: string): string
  received: Received[]
  /** Resolves when all clients have disconnected. */
  left(): Promise<void>
  stop(): Promise<void>
}

export async function mailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const received: Received[] = []
  const clients = new Set<string>()
  let onLeft = () => {}
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    disabledCommands: ['STARTTLS'],
    closeTimeout: 1,
    logger: false,
    onConnect(session, done) {
      clients.add(session.id)
      done()
    },
    onClose(session, done) {
      clients.delete(session.id)
      if (clients.size === 0) onLeft()
      done?.()
    },
    onAuth({ username, password }, _, done) {
      if (username === 'ana' && password === 'secret word') done(null, { user: username })
      else done(new Error('who is that'))
    },
    async onData(stream, { envelope, user, secure }, done) {
      const raw = await new Response(stream as unknown as ReadableStream).text()
      const from = envelope.mailFrom ? envelope.mailFrom.address : ''
      const to = envelope.rcptTo.map(({ address }) => address)
      received.push({ from, to, user: user ? String(user) : null, secure, raw })
      done()
    },
    ...options,
  })
  // Some tests abort a transfer, which is an error in this server. Without this listener, the error ends the test
  // process.
  server.on('error', () => {})
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  return {
    url: (credentials = '') => `smtp://${credentials}127.0.0.1:${port}`,
    received,
    left: () =>
      new Promise(resolve => {
        onLeft = resolve
        if (clients.size === 0) resolve()
      }),
    stop: () => new Promise(resolve => server.close(() => resolve())),
  }
}
