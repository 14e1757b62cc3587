import { afterEach, beforeEach, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import type { SMTPServerOptions } from 'smtp-server'
import { type Mailer, verificationMail } from '../../src/accounts/mail.ts'
import { removeMailTo } from '../../src/accounts/mail-folder.ts'
import { type MailOptions, openMailer } from '../../src/accounts/mailer.ts'
import { formatDuration } from '../../src/base/units.ts'
import { limits } from '../../src/limits.ts'
import { temporaryFolder } from '../support/folder.ts'
import { type MailServer, mailServer } from '../support/mail-server.ts'

const link = `https://steno.example/verify?token=${'t'.repeat(43)}`
const mail = verificationMail({ to: 'ana@example.com', link })

let dataDir: string
const closers: (() => unknown)[] = []
beforeEach(() => {
  dataDir = temporaryFolder()
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

function mailer(options: Partial<MailOptions> = {}): Mailer {
  const opened = openMailer({
    smtpUrl: null,
    mailFrom: null,
    dataDir,
    baseUrl: 'https://steno.example',
    ...options,
  })
  closers.push(() => opened.close())
  return opened
}

async function server(options: SMTPServerOptions = {}): Promise<MailServer> {
  const started = await mailServer(options)
  closers.push(() => started.stop())
  return started
}

/** Returns the decoded text of a received mail. */
function textOf(raw: string): string {
  const body = raw.slice(raw.indexOf('\r\n\r\n') + 4)
  if (!/^content-transfer-encoding: quoted-printable/im.test(raw)) return body.replaceAll('\r\n', '\n')
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString().replaceAll('\r\n', '\n')
}

test('the verification mail carries the link on a line of its own and says how long it works', () => {
  expect(mail.text.split('\n')).toContain(link)
  expect(mail.text).toContain(formatDuration(limits.verificationTtlMs))
})

test('a mail server receives the mail unchanged', async () => {
  const inbox = await server()
  await mailer({ smtpUrl: inbox.url() }).send(mail)
  expect(inbox.received).toMatchObject([
    { from: 'steno@steno.example', to: ['ana@example.com'], user: null, secure: false },
  ])
  const { raw } = inbox.received[0]!
  expect(raw).toMatch(/^From: steno@steno\.example\r$/m)
  expect(raw).toMatch(/^To: ana@example\.com\r$/m)
  expect(raw).toMatch(/^Subject: Confirm your address for steno\r$/m)
  expect(raw).toMatch(/^Auto-Submitted: auto-generated\r$/m)
  expect(raw).not.toMatch(/^X-Mailer/im)
  expect(textOf(raw).trim()).toBe(mail.text)
})

test('a recipient that looks like a list of addresses is not read as a list', async () => {
  const inbox = await server()
  const sending = mailer({ smtpUrl: inbox.url() }).send({ ...mail, to: 'ana@example.com, eve@example.com' })
  await expect(sending).rejects.toThrow()
  expect(inbox.received).toEqual([])
})

test('the mailer logs in when the server requires it', async () => {
  const inbox = await server({ authOptional: false })
  await mailer({ smtpUrl: inbox.url('ana:secret%20word@') }).send(mail)
  expect(inbox.received).toMatchObject([{ user: 'ana', to: ['ana@example.com'] }])
})

test('a wrong password is an error without the password in it', async () => {
  const inbox = await server({ authOptional: false })
  const refusal = await mailer({ smtpUrl: inbox.url('ana:guessed@') })
    .send(mail)
    .catch(error => error)
  expect(refusal).toBeInstanceOf(Error)
  expect(`${refusal.message} ${refusal.stack}`).not.toContain('guessed')
  expect(inbox.received).toEqual([])
})

test('a server that refuses the mailbox is an error without the link in it', async () => {
  const inbox = await server({
    onRcptTo: (_, __, done) => done(Object.assign(new Error('no such mailbox'), { responseCode: 550 })),
  })
  const refusal = await mailer({ smtpUrl: inbox.url() })
    .send(mail)
    .catch(error => error)
  expect(refusal.message).toContain('no such mailbox')
  expect(`${refusal.message} ${refusal.stack}`).not.toContain('token=')
  expect(inbox.received).toEqual([])
})

test('a closed port is an error', async () => {
  const inbox = await mailServer()
  await inbox.stop()
  await expect(mailer({ smtpUrl: inbox.url() }).send(mail)).rejects.toThrow('ECONNREFUSED')
})

test('a server that never greets times out, and its connection is closed', async () => {
  const closed = Promise.withResolvers<void>()
  const silent = createServer(socket => {
    socket.on('error', () => {})
    socket.on('close', () => closed.resolve())
    socket.resume()
  })
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
  closers.push(() => silent.close())
  const { port } = silent.address() as AddressInfo
  const sending = mailer({ smtpUrl: `smtp://127.0.0.1:${port}`, timeoutMs: 200 }).send(mail)
  expect(await sending.catch(error => error.message)).toBe('the mail server took longer than 0.2 seconds')
  await closed.promise
})

test('a server that hangs after it has the mail times out', async () => {
  const inbox = await server({ onData: stream => void stream.resume() })
  const sending = mailer({ smtpUrl: inbox.url(), timeoutMs: 500 }).send(mail)
  expect(await sending.catch(error => error.message)).toBe('the mail server took longer than 0.5 seconds')
  await inbox.left()
})

test('closing aborts a mail that is being sent', async () => {
  const arrived = Promise.withResolvers<void>()
  const inbox = await server({
    onData: stream => {
      stream.resume()
      arrived.resolve()
    },
  })
  const sender = mailer({ smtpUrl: inbox.url() })
  const sending = sender.send(mail).catch(error => error.name)
  await arrived.promise
  sender.close()
  expect(await sending).toBe('AbortError')
  await inbox.left()
})

test('a server with an untrusted certificate gets no mail, not even unencrypted', async () => {
  const inbox = await server({ disabledCommands: [] })
  await expect(mailer({ smtpUrl: inbox.url() }).send(mail)).rejects.toThrow('certificate')
  expect(inbox.received).toEqual([])
  await mailer({ smtpUrl: `${inbox.url()}?tls.rejectUnauthorized=false` }).send(mail)
  expect(inbox.received).toMatchObject([{ secure: true }])
})

test('without a mail server the mail is written to the data folder, readable only by its owner', async () => {
  const writer = mailer()
  await writer.send(mail)
  await writer.send({ ...mail, to: 'ben@example.com', subject: 'Grüße\r\nBcc: eve@example.com' })
  const folder = join(dataDir, 'mail')
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  const files = readdirSync(folder).toSorted()
  expect(files.every(file => file.endsWith('.eml'))).toBe(true)
  expect(files.map(file => statSync(join(folder, file)).mode & 0o777)).toEqual([0o600, 0o600])
  const [first, second] = files.map(file => readFileSync(join(folder, file), 'utf8'))
  expect(first).toStartWith('From: steno@steno.example\r\nTo: ana@example.com\r\n')
  expect(first!.split('\r\n')).toContain(link)
  expect(textOf(first!).trim()).toBe(mail.text)
  expect(Date.parse(/^Date: (.+)\r$/m.exec(first!)?.[1] ?? '')).not.toBeNaN()
  expect(second).toContain('\r\nSubject: Grüße Bcc: eve@example.com\r\n')
  removeMailTo(dataDir, 'ben@example.co')
  expect(readdirSync(folder)).toHaveLength(2)
  removeMailTo(dataDir, 'ben@example.com')
  expect(readdirSync(folder)).toEqual([files[0]!])
})

const senders: [string, string | null, string][] = [
  ['http://127.0.0.1:8080', null, 'steno@[127.0.0.1]'],
  ['http://[::1]:8080', null, 'steno@[IPv6:::1]'],
  ['https://steno.example/sub', null, 'steno@steno.example'],
  ['http://127.0.0.1:8080', 'Steno <post@example.com>', 'post@example.com'],
]

test.each(senders)('the sender at %s with STENO_MAIL_FROM %p is %s', async (baseUrl, mailFrom, expected) => {
  const inbox = await server()
  await mailer({ smtpUrl: inbox.url(), baseUrl, mailFrom }).send(mail)
  expect(inbox.received).toMatchObject([{ from: expected }])
})
