import { Elysia } from 'elysia'
import { normalEmail } from '../accounts/email.ts'
import { verificationMail } from '../accounts/mail.ts'
import { hashPassword } from '../accounts/password.ts'
import { createVerification, useVerification } from '../accounts/verification.ts'
import { errorFields, log } from '../base/log.ts'
import { ApiError } from '../errors.ts'
import { gate } from './gate/gate.ts'
import { htmlPage } from './html.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'
import * as shapes from './shapes/accounts.ts'

export const accounts = (service: Service) =>
  new Elysia({ tags: ['Account'] })
    .use(gate(service))

    .post(
      '/v1/accounts',
      async ({ body, set }) => {
        const email = normalEmail(body.email)
        if (!email) throw new ApiError('INVALID_REQUEST', 'email is not an address.')
        await signUp(service, email, body.password)
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

    .get(
      '/verify',
      ({ query, set }) => {
        const verified = useVerification(service.db, query.token ?? '')
        set.status = verified ? 200 : 410
        return verified
          ? htmlPage('Your address is confirmed', `<p>The account works. ${nextStep(service)}</p>`)
          : htmlPage(
              'This link does not work',
              `<p>It was used before, or it has expired. ${retry(service)}</p>`,
            )
      },
      { visitor: true, detail: about({ hide: true }) },
    )

/**
 * Returns the hint about how to get the first API key. The page after the verification of an email address shows this
 * hint. The key comes from the web app, or from the operator if the web app is off.
 */
function nextStep({ config }: Service): string {
  return config.dashboard
    ? '<a href="/">Sign in</a> with your password.'
    : 'Ask your operator for an API key.'
}

function retry({ config }: Service): string {
  return config.dashboard
    ? 'If you cannot <a href="/">sign in</a>, <a href="/register">sign up again</a> for a new link.'
    : 'If the account does not work, sign up again for a new link.'
}

/**
 * Creates an account and sends its verification mail. Sends no mail if the account is already verified, or if it got a
 * mail a short time ago. Does not wait until the mail is sent, so that the response time does not reveal whether the
 * address is registered.
 */
async function signUp(
  { db, config, baseUrl, mailer }: Service,
  email: string,
  password: string,
): Promise<void> {
  const token = createVerification(db, { email, passwordHash: await hashPassword(password) })
  if (!token) return
  const link = `${baseUrl()}/verify?token=${token}`
  if (config.smtpUrl === null) console.log(`Verification link for ${email}: ${link}`)
  mailer
    .send(verificationMail({ to: email, link }))
    .catch(error => log.error('mail not sent', errorFields(error)))
}
