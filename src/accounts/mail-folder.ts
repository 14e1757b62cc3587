// Writes each mail to a folder in the data folder, as a file that mail programs can open.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isId, newId } from '../base/id.ts'
import { Draft } from '../base/whole-file.ts'
import { limits } from '../limits.ts'
import type { Mail, Mailer } from './mail.ts'

export function openMailFolder(dataDir: string, from: string): Mailer {
  const folder = mailFolder(dataDir)
  return {
    async send(mail) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      // Ids increase with time, so a list of the files by name is in the order of time. The file gets its final name
      // when it is complete, so another program that watches the folder reads no incomplete mail.
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

function mailFolder(dataDir: string): string {
  return join(dataDir, 'mail')
}

function listMail(dataDir: string): string[] {
  const folder = mailFolder(dataDir)
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true })
    .filter(entry => entry.isFile() && isId(entry.name.replace(/\.eml$/, '')))
    .map(({ name }) => join(folder, name))
}

/**
 * Formats a mail as a file. The text is not encoded (as quoted-printable or Base64), because an encoding would break
 * long links into several lines.
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
