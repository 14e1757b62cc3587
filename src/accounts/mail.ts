// The texts of mails, and a mailer that sends mails by SMTP. If no mail server is set, each mail is written to a
// folder, as a file that mail programs can open.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { isIPv4 } from 'node:net'
import { join } from 'node:path'
import { isId, newId } from '../base/id.ts'
import { formatDuration } from '../base/units.ts'
import { Draft } from '../base/whole-file.ts'
import { limits } from '../limits.ts'

export type Mail = { to: string; subject: string; text: string }

export type Mailer = {
  /**
   * Sends a mail. Rejects if the mail server refuses the mail. The error contains neither the text of the mail nor
   * the password for the mail server.
   */
  send(mail: Mail): Promise<void>
  /** Aborts all mails that are being sent. */
  close(): void
}

export type MailOptions = {
  smtpUrl: string | null
  mailFrom: string | null
  dataDir: string
  baseUrl: string
  timeoutMs?: number
}

export function openMailer(options: MailOptions): Mailer {
  const from = options.mailFrom ?? `steno@${mailDomain(options.baseUrl)}`
  return options.smtpUrl === null
    ? openMailFolder(join(options.dataDir, 'mail'), from)
    : openSmtp(options.smtpUrl, from, options.timeoutMs ?? limits.mailTimeoutMs)
}

/** Connects to the mail server and signs in, but sends no mail. Rejects if the connection or the sign-in fails. */
export async function checkMailServer(smtpUrl: string): Promise<void> {
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: limits.mailCheckMs,
    greetingTimeout: limits.mailCheckMs,
    socketTimeout: limits.mailCheckMs,
  })
  try {
    await transport.verify()
  } finally {
    transport.close()
  }
}

/** Returns the mail with the link by which a new account is verified. */
export function verificationMail({ to, link }: { to: string; link: string }): Mail {
  return {
    to,
    subject: 'Confirm your address for steno',
    text: [
      'Somebody, most likely you, signed up for steno with this address.',
      `Open this link within ${formatDuration(limits.verificationTtlMs)} to confirm it; it works once:`,
      link,
      'Nothing happens if you leave it alone: without the link the account never works.',
    ].join('\n\n'),
  }
}

function openSmtp(url: string, from: string, timeoutMs: number): Mailer {
  const closing = new AbortController()
  return {
    async send({ to, subject, text }) {
      const late = AbortSignal.timeout(timeoutMs)
      const { createTransport } = await import('nodemailer')
      const transport = createTransport({ url, disableFileAccess: true, disableUrlAccess: true })
      try {
        await transport.sendMail({
          from,
          // The recipient is an object and not a string, because nodemailer could read a string as a list of several
          // addresses.
          to: { name: '', address: to },
          subject,
          text: `${text}\n`,
          headers: { 'Auto-Submitted': 'auto-generated' },
          xMailer: false,
          signal: AbortSignal.any([closing.signal, late]),
        })
      } catch (error) {
        if (!late.aborted) throw error
        throw new Error(`the mail server took longer than ${formatDuration(timeoutMs)}`, { cause: error })
      } finally {
        transport.close()
      }
    },
    close() {
      closing.abort()
    },
  }
}

function openMailFolder(folder: string, from: string): Mailer {
  return {
    async send(mail) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      // The name of the file is an id, and ids increase with time. So the files are in the order of time if they are
      // sorted by name. The mail is first written as a draft, because another program may watch the folder and must not
      // read an incomplete mail.
      using draft = new Draft(join(folder, `${newId()}.eml`))
      writeFileSync(draft.path, message(mail, from), { mode: 0o600 })
      draft.place()
    },
    close() {},
  }
}

/** Removes the files of all mails to an email address from the data folder. */
export function removeMailTo(dataDir: string, email: string): void {
  for (const path of listMail(dataDir)) {
    const isToAddress = readFileSync(path, 'utf8').split('\r\n').includes(`To: ${email}`)
    if (isToAddress) rmSync(path, { force: true })
  }
}

/** Removes mails that are older than `mailKeptMs` from the data folder. The links in these mails have expired. */
export function removeOldMail(dataDir: string, nowMs: number): void {
  for (const path of listMail(dataDir)) {
    if (nowMs - statSync(path).mtimeMs >= limits.mailKeptMs) rmSync(path, { force: true })
  }
}

function listMail(dataDir: string): string[] {
  const folder = join(dataDir, 'mail')
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true })
    .filter(entry => entry.isFile() && isId(entry.name.replace(/\.eml$/, '')))
    .map(({ name }) => join(folder, name))
}

/**
 * Formats a mail as a file. The text of the mail is not encoded (as quoted-printable or Base64), because an encoding
 * would break a long link into several lines.
 */
function message({ to, subject, text }: Mail, from: string): string {
  const headers = {
    From: from,
    To: to,
    Subject: subject,
    Date: new Date().toUTCString().replace('GMT', '+0000'),
    'Auto-Submitted': 'auto-generated',
    'MIME-Version': '1.0',
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Transfer-Encoding': '8bit',
  }
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value.replace(/[\r\n]+/g, ' ')}`)
  return [...head, '', ...text.split(/\r?\n/), ''].join('\r\n')
}

/** Returns the domain for the sender's email address. An IP address in an email address is in brackets. */
function mailDomain(baseUrl: string): string {
  const { hostname } = new URL(baseUrl)
  if (isIPv4(hostname)) return `[${hostname}]`
  return hostname.replace(/^\[/, '[IPv6:')
}
