// Renders the webhooks for the docs page.

import { escapeHtml, pre } from '../html.ts'
import { signatureRule } from '../openapi/webhooks.ts'
import type { Document } from './document.ts'
import { objectTable } from './fields.ts'
import { sampleOf } from './sample.ts'

export function webhooksHtml(document: Document): string {
  const events = Object.entries(document.webhooks).map(([event, { post }]) => {
    const schema = post.requestBody?.content['application/json']?.schema
    return [
      `<h3 id="${event}"><code>${event}</code></h3><p>${escapeHtml(post.summary ?? '')}.</p>`,
      schema ? objectTable(document, schema) : '',
      schema
        ? `<details><summary>Body</summary>${pre(JSON.stringify(sampleOf(document, schema), null, 2))}</details>`
        : '',
    ].join('')
  })
  return [
    '<h2 id="webhooks">Webhooks</h2>',
    '<p>Each event of a job is one POST to the <code>webhook_url</code> of the job, or to the default address of the account.',
    ` <code>X-Service-Signature</code> is the ${escapeHtml(signatureRule).replace(/`([^`]+)`/, '<code>$1</code>')};`,
    ' <code>X-Service-Timestamp</code> has the timestamp. Answer with a 2xx status within ten seconds, unless the operator has set another time.</p>',
    ...events,
  ].join('')
}
