// The routes with which the web app lists and revokes the OAuth grants of an account.

import { Elysia } from 'elysia'
import { listGrants, revokeGrant } from '../accounts/grant.ts'
import { ApiError } from '../errors.ts'
import { gate } from './gate/gate.ts'
import { timestamp } from './jobs/job-json.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'
import * as shapes from './shapes/grants.ts'
import { idParam } from './shapes/job.ts'

export const grants = (service: Service) =>
  new Elysia({ prefix: '/app' })
    .use(gate(service))

    .get(
      '/grants',
      ({ caller }) => ({
        items: listGrants(service.db, caller.accountId).map(
          ({ id, clientName, scopes, createdAt, lastUsedAt }) => ({
            id,
            client_name: clientName,
            scopes,
            created_at: timestamp(createdAt),
            last_used_at: timestamp(lastUsedAt),
          }),
        ),
      }),
      { session: 'app', response: { 200: shapes.grants }, detail: about({ summary: 'List grants' }) },
    )

    .delete(
      '/grants/:id',
      ({ caller, params }) => {
        if (!revokeGrant(service.db, caller.accountId, params.id)) {
          throw new ApiError('NOT_FOUND', 'There is no such grant.')
        }
        return new Response(null, { status: 204 })
      },
      {
        session: 'app',
        parse: 'none',
        params: idParam,
        detail: about({ summary: 'Revoke a grant, with its tokens' }),
      },
    )
