// The requests to other machines for an account: downloads and webhooks. They reach only the public internet and the
// networks in STENO_ALLOW_NETS.

import type { Service } from '../api/service.ts'
import type { Config } from '../config.ts'
import type { Download } from '../jobs/downloads.ts'
import { download } from '../net/download.ts'
import type { Resolve } from '../net/fetch.ts'
import { openNames } from '../net/names.ts'
import type { UploadStore } from '../uploads/store.ts'
import { checkWebhookUrl } from '../webhooks/address.ts'
import { deliver } from '../webhooks/deliver.ts'

export type Outgoing = Pick<Service, 'deliver' | 'checkWebhookUrl'> & { download: Download }

/**
 * Returns the functions for requests to other hosts. The DNS look-ups of the accounts take turns, so one account cannot
 * block another account. In tests, `resolve` replaces the DNS look-ups.
 */
export function openOutgoing(
  config: Config,
  resolve: Resolve | undefined,
  uploads: Pick<UploadStore, 'beginDownload'>,
): Outgoing {
  const { allowNets } = config
  const names = openNames()
  const resolveFor = (accountId: string) => resolve ?? ((name: string) => names(name, accountId))
  return {
    deliver: (url, body, { accountId, ...options }) =>
      deliver(url, body, {
        ...options,
        timeoutMs: config.webhookTimeoutMs,
        allowNets,
        resolve: resolveFor(accountId),
      }),
    checkWebhookUrl: (url, accountId) => checkWebhookUrl(url, { allowNets, resolve: resolveFor(accountId) }),
    async download(url, path, { accountId, onProgress, ...options }) {
      const running = uploads.beginDownload(accountId)
      try {
        return await download(url, path, {
          ...options,
          allowNets,
          resolve: resolveFor(accountId),
          onProgress(bytes, total) {
            running.count(bytes, total)
            onProgress(bytes, total)
          },
        })
      } finally {
        running.end()
      }
    },
  }
}
