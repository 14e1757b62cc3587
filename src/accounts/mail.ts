// The types of a mail and of a mailer, and the texts of the mails.

import { formatDuration } from '../base/units.ts'
import { limits } from '../limits.ts'

export type Mail = { to: string; subject: string; text: string }

export type Mailer = {
  /**
   * Sends a mail. Rejects if the mail cannot be sent. The error contains neither the text of the mail nor the password
   * for the mail server.
   */
  send(mail: Mail): Promise<void>
  /** Aborts all mails that are being sent. */
  close(): void
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
      'Do not open the link if it was not you: the account would get the password of the person who signed up. ' +
        'Nothing happens if you leave it alone: without the link the account never works.',
    ].join('\n\n'),
  }
}
