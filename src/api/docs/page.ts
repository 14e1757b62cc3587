// Renders the OpenAPI document as an HTML page without scripts. The `docs_url` in an error response is an address on
// this page.

import { escapeHtml, htmlPage } from '../html.ts'
import { errorsHtml, languagesHtml, shapeHtml, versionsHtml } from './appendix.ts'
import { type Document, type Endpoint, endpointsOf } from './document.ts'
import { endpointHtml } from './endpoint.ts'
import { quickStart } from './quick-start.ts'
import { webhooksHtml } from './webhooks.ts'

/** The order of the groups of endpoints on the page. All other groups follow in the order of their names. */
const order = ['Uploads', 'Transcriptions', 'OpenAI', 'Account', 'Service', 'Operations']

export function docsPage(description: object): Response {
  const document = description as Document
  const groups = [
    ...Map.groupBy(endpointsOf(document), ({ operation }) => operation.tags[0] ?? 'Other'),
  ].sort(([one], [other]) => rank(one) - rank(other) || one.localeCompare(other))
  const body = [
    '<div class="reference">',
    contents(groups),
    '<main>',
    `<p>${escapeHtml(document.info.description)} Version ${document.info.version}; for machines: <a href="/v1/openapi.json">openapi.json</a>.</p>`,
    quickStart(document.servers[0]?.url ?? ''),
    ...groups.map(
      ([tag, endpoints]) =>
        `<h2 id="${slug(tag)}">${escapeHtml(tag)}</h2>${endpoints.map(each => endpointHtml(document, each)).join('')}`,
    ),
    webhooksHtml(document),
    languagesHtml(),
    '<h2 id="shapes">Shapes</h2>',
    ...Object.entries(document.components.schemas).map(([name, schema]) => shapeHtml(document, name, schema)),
    errorsHtml(),
    versionsHtml(),
    '<h2 id="deposits">Adding funds</h2>',
    '<p>The operator of this service adds funds: <code>steno accounts credit EMAIL 5.00</code></p>',
    '</main></div>',
  ]
  return htmlPage(document.info.title, body.join('\n'))
}

function rank(tag: string): number {
  const at = order.indexOf(tag)
  return at < 0 ? order.length : at
}

function contents(groups: [string, Endpoint[]][]): string {
  const links = groups.map(([tag, endpoints]) => {
    const items = endpoints.map(
      ({ method, path, operation }) =>
        `<li><a href="#${operation.operationId}"><span class="method">${method}</span> ${escapeHtml(path.replace(/^\/v1(?=\/)/, ''))}</a></li>`,
    )
    return `<li><a href="#${slug(tag)}">${escapeHtml(tag)}</a><ul>${items.join('')}</ul></li>`
  })
  const others = ['webhooks', 'languages', 'shapes', 'errors', 'versions', 'deposits'].map(
    id =>
      `<li><a href="#${id}">${id === 'deposits' ? 'Adding funds' : `${id[0]?.toUpperCase()}${id.slice(1)}`}</a></li>`,
  )
  return `<nav aria-label="Contents"><ul><li><a href="/">steno</a></li><li><a href="#start">Quick start</a></li>${links.join('')}${others.join('')}</ul></nav>`
}

function slug(tag: string): string {
  return tag.toLowerCase().replace(/\W+/g, '-')
}
