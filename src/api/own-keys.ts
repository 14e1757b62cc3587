// The routes with which the web app lists, creates and revokes the API keys of an account.

import { Elysia } from 'elysia'
import { createKey, type Key, listKeys, revokeKey } from '../accounts/key.ts'
import { ApiError } from '../errors.ts'
import { limits } from '../limits.ts'
import { gate } from './gate/gate.ts'
import { timestamp } from './jobs/job-json.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'
import { idParam } from './shapes/job.ts'
import * as shapes from './shapes/own-keys.ts'

export const ownKeys = (service: Service) =>
  new Elysia({ prefix: '/app' })
    .use(gate(service))

    .get(
      '/keys',
      ({ caller }) => ({
        items: listKeys(service.db, caller.accountId).toReversed().map(keyJson),
        active_max: limits.activeKeysMax,
      }),
      { session: 'app', response: { 200: shapes.keyList }, detail: about({ summary: 'List keys' }) },
    )

    .post(
      '/keys',
      ({ caller, body, set }) => {
        const made = createKey(service.db, service.secrets, caller.accountId, { name: body.name.trim() })
        if (!made) {
          throw new ApiError('CONFLICT', `All ${limits.activeKeysMax} keys are in use; revoke one first.`)
        }
        set.headers['Cache-Control'] = 'no-store'
        return made
      },
      {
        sessionBody: 'app',
        body: shapes.keyRequest,
        response: { 200: shapes.madeKey },
        detail: about({ summary: 'Make a key. The answer is the only one that shows it' }),
      },
    )

    .delete(
      '/keys/:id',
      ({ caller, params }) => {
        const isOwn = listKeys(service.db, caller.accountId).some(({ id }) => id === params.id)
        if (!isOwn || !revokeKey(service.db, params.id)) {
          throw new ApiError('NOT_FOUND', 'There is no such key.')
        }
        return new Response(null, { status: 204 })
      },
      {
        session: 'app',
        parse: 'none',
        params: idParam,
        detail: about({ summary: 'Revoke a key' }),
      },
    )

function keyJson({ id, name, prefix, createdAt, lastUsedAt, revokedAt }: Key) {
  return {
    id,
    name,
    prefix,
    created_at: timestamp(createdAt),
    last_used_at: lastUsedAt === null ? null : timestamp(lastUsedAt),
    revoked_at: revokedAt === null ? null : timestamp(revokedAt),
  }
}
