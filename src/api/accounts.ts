import { Elysia } from 'elysia'
import { normalEmail } from '../accounts/email.ts'
import { verificationMail } from '../accounts/mail.ts'
import { type Asker, hashPassword, isPassword } from '../accounts/password.ts'
import { createVerification, findPendingPassword } from '../accounts/verification.ts'
import { errorFields, log } from '../base/log.ts'
import { ApiError } from '../errors.ts'
import { gate } from './gate/gate.ts'
import { askerOf } from './gate/request-state.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'
import * as shapes from './shapes/accounts.ts'
import { choosePassword, openLink } from './verification-link.ts'

export const accounts = (service: Service) =>
  new Elysia({ tags: ['Account'] })
    .use(gate(service))

    .post(
      '/v1/accounts',
      async ({ body, request, requestState, set }) => {
        if (!service.config.signUp)
          throw new ApiError('FORBIDDEN', 'The sign-up is closed here; ask the operator for an account.')
        const email = normalEmail(body.email)
        if (!email) throw new ApiError('INVALID_REQUEST', 'email is not an address.')
        await signUp(service, { email, password: body.password }, askerOf(request, requestState))
        set.status = 202
        return {
          status: 'pending_verification' as const,
          email,
          message: 'Follow the link in the mail to start using the account.',
        }
      },
      {
        openBody: 'accounts.create',
        body: shapes.accountRequest,
        response: { 202: shapes.pendingAccount },
        detail: about({
          summary: 'Create an account',
          success: { status: 202, description: 'The same answer whether or not the address is taken' },
        }),
      },
    )

    .get('/verify', ({ query }) => openLink(service, query.token ?? ''), {
      visitor: true,
      detail: about({ hide: true }),
    })

    .post(
      '/verify',
      ({ form, request, requestState }) => choosePassword(service, form, askerOf(request, requestState)),
      { openForm: 'accounts.create' },
    )

/**
 * Creates an account, unless it exists, and sends its verification mail. Sends no mail if the account is verified or
 * got a mail a short time ago. Compares the password with that of an earlier sign-up whose link is still valid. If the
 * passwords differ, one of the two sign-ups may come from a stranger. `createVerification` then stores no password with
 * any of the links, and the person who opens one of them chooses a new password.
 *
 * The response time must not reveal whether the address is registered. `isPassword` therefore takes the same time with
 * and without an earlier sign-up, and the response never waits for the mail.
 */
async function signUp(
  { db, config, baseUrl, mailer }: Service,
  { email, password }: { email: string; password: string },
  asker: Asker,
): Promise<void> {
  const pending = findPendingPassword(db, email)
  const isSame = await isPassword(password, pending, asker)
  const passwordHash = await hashPassword(password, asker)
  const token = createVerification(db, { email, passwordHash, pendingHash: isSame ? pending : null })
  if (!token) return
  const link = `${baseUrl()}/verify?token=${token}`
  if (config.smtpUrl === null) console.log(`Verification link for ${email}: ${link}`)
  mailer
    .send(verificationMail({ to: email, link }))
    .catch(error => log.error('mail not sent', errorFields(error)))
}
