// The routes with which the web app reads the settings and the statement of the signed-in account. The statement lists
// deposits and charges.

import { Elysia } from 'elysia'
import { findAccountSettings } from '../accounts/settings.ts'
import { gate } from './gate/gate.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'
import * as shapes from './shapes/own-account.ts'
import { statementOf } from './statement.ts'

export const ownAccount = (service: Service) =>
  new Elysia({ prefix: '/app' })
    .use(gate(service))

    .get(
      '/account',
      ({ caller }) => {
        const settings = findAccountSettings(service.db, caller.accountId)
        return {
          operator: settings.operator,
          has_password: settings.passwordHash !== null,
          webhook_url: settings.webhookUrl,
        }
      },
      {
        session: 'app',
        response: { 200: shapes.accountSettings },
        detail: about({ summary: 'Read the settings of the account' }),
      },
    )

    .get('/statement', ({ caller, query }) => statementOf(service, caller.accountId, query.cursor), {
      session: 'app',
      query: shapes.statementQuery,
      response: { 200: shapes.statement },
      detail: about({ summary: 'List deposits and charges' }),
    })
