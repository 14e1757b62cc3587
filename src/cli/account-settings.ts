import { hashPassword } from '../accounts/password.ts'
import { endSessions } from '../accounts/session.ts'
import { setDefaultWebhook, setOperator, setPassword } from '../accounts/settings.ts'
import { newToken } from '../base/id.ts'
import { checkWebhookUrl } from '../webhooks/address.ts'
import { mustFind, recordOf } from './account-record.ts'
import { need } from './arguments.ts'
import { command } from './command.ts'
import { withData } from './data.ts'
import { UsageError } from './failure.ts'
import { print } from './print.ts'
import { dataConfig, dataOption, recordOptions } from './settings.ts'

export const webhook = command({
  usage: 'steno accounts webhook EMAIL URL|none [--json]',
  summary: 'Set the webhook of jobs that have no webhook_url of their own.',
  options: recordOptions,
  async run(positionals, values) {
    const [email, url] = need(positionals, 'EMAIL', 'URL or none')
    const webhookUrl = url === 'none' ? null : url
    const { allowNets } = dataConfig(values)
    const refused = webhookUrl === null ? null : await checkWebhookUrl(webhookUrl, { allowNets })
    if (refused !== null) throw new Error(refused)
    const account = withData(values, db => {
      setDefaultWebhook(db, mustFind(db, email).id, webhookUrl)
      return mustFind(db, email)
    })
    const record = recordOf(account)
    print(values, record, () => `${record.email}: ${record.webhook_url ?? 'no default webhook'}`)
  },
})

export const operator = command({
  usage: 'steno accounts operator EMAIL on|off',
  summary: 'Let an account see the state of the whole service in the web app.',
  options: dataOption,
  async run(positionals, values) {
    const [email, mark] = need(positionals, 'EMAIL', 'on or off')
    if (mark !== 'on' && mark !== 'off') throw new UsageError(`${mark} is neither on nor off`)
    const isOperator = mark === 'on'
    withData(values, db => setOperator(db, mustFind(db, email).id, isOperator))
    print({}, null, () => `${email} is ${isOperator ? 'an operator' : 'no operator'}`)
  },
})

export const password = command({
  usage: 'steno accounts password EMAIL [--json]',
  summary: 'Set a new password, and print it. All sessions of the account end.',
  options: recordOptions,
  async run(positionals, values) {
    const [email] = need(positionals, 'EMAIL')
    const made = newToken().slice(0, madePasswordLength)
    const passwordHash = await hashPassword(made)
    withData(values, db =>
      db.tx(() => {
        const { id } = mustFind(db, email)
        setPassword(db, id, passwordHash)
        endSessions(db, id)
      }),
    )
    print(values, { email, password: made }, () => made)
  },
})

/**
 * The number of characters in a generated password. Each character has 6 random bits, so 20 characters have 120 random
 * bits.
 */
const madePasswordLength = 20
