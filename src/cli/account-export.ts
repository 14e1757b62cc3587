import { rowsOfAccount } from '../jobs/account-rows.ts'
import { mustFind } from './account-record.ts'
import { need } from './arguments.ts'
import { command } from './command.ts'
import { withData } from './data.ts'
import { say } from './print.ts'
import { dataOption } from './settings.ts'

export const exportAccount = command({
  usage: 'steno accounts export EMAIL',
  summary:
    'Print what the database has of one account, transcripts included, without secrets, as one JSON object a line.',
  options: dataOption,
  async run(positionals, values) {
    const [email] = need(positionals, 'EMAIL')
    withData(values, db => {
      for (const row of rowsOfAccount(db, mustFind(db, email).id)) say(JSON.stringify(row))
    })
  },
})
