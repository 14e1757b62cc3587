// The routes at which a worker downloads models from the server. They imitate the API of Hugging Face, so that a worker
// can use the same code for downloads from Hugging Face and from the server. The server sends the worker the token for
// these requests over NATS.

import { join } from 'node:path'
import { Elysia } from 'elysia'
import { findDownloaded } from '../engine/models/store.ts'
import { ApiError } from '../errors.ts'
import { emptyState } from './gate/request-state.ts'
import { sendFile } from './jobs/send-file.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'

type Fleet = NonNullable<Service['fleet']>

export const workerModels = ({ config }: Service, fleet: Fleet) =>
  new Elysia({ prefix: '/v1/workers/models' })
    .decorate('requestState', emptyState)

    // The request names the model revision of the worker's catalogue. The response names the revision in the server's
    // model store, which may differ. The worker then requests the files of the revision in the response.
    .get(
      '/api/models/:owner/:name/revision/:revision',
      async ({ request, params }) => ({
        sha: (await findModel(config, fleet, request, params)).lock.revision,
      }),
      { detail: about({ hide: true }) },
    )

    .get(
      '/api/models/:owner/:name/tree/:revision',
      async ({ request, params }) => {
        const { lock } = await findModel(config, fleet, request, params)
        return lock.files.map(({ path, size, hash: { kind, value } }) => ({
          type: 'file',
          path,
          size,
          ...(kind === 'git' ? { oid: value } : { oid: '', lfs: { oid: value, size } }),
        }))
      },
      { detail: about({ hide: true }) },
    )

    .get(
      '/:owner/:name/resolve/:revision/*',
      async ({ request, params }) => {
        const { folder, lock } = await findModel(config, fleet, request, params)
        const file = lock.files.find(({ path }) => path === params['*'])
        if (!file || params.revision !== lock.revision) throw new ApiError('NOT_FOUND')
        return sendFile(Bun.file(join(folder, file.path)), request, { ETag: `"${file.hash.value}"` })
      },
      { detail: about({ hide: true }) },
    )

/**
 * Returns a downloaded model of the server's model store. A model that a person copied into the store counts as not
 * found, because the store lacks the hashes with which a worker checks the files of a model.
 */
async function findModel(
  config: Service['config'],
  fleet: Fleet,
  request: Request,
  { owner, name }: { owner: string; name: string },
) {
  const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '') ?? []
  if (!fleet.allowsModels(token)) throw new ApiError('FORBIDDEN')
  const found = await findDownloaded(config, `${owner}/${name}`)
  if (!found) throw new ApiError('MODEL_NOT_FOUND')
  return found
}
