// Sends mails by SMTP. Without a mail server, each mail is written to a folder (mail-folder.ts).

import { isIPv4 } from 'node:net'
import { formatDuration } from '../base/units.ts'
import { limits } from '../limits.ts'
import type { Mailer } from './mail.ts'
import { openMailFolder } from './mail-folder.ts'

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
    ? openMailFolder(options.dataDir, from)
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

/** Returns the domain for the sender's email address. An IP address is written in brackets. */
function mailDomain(baseUrl: string): string {
  const { hostname } = new URL(baseUrl)
  if (isIPv4(hostname)) return `[${hostname}]`
  return hostname.replace(/^\[/, '[IPv6:')
}
