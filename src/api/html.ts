// Makes HTML pages that need no scripts and no other files, so they also work offline.

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
code, pre { font: 14px/1.4 ui-monospace, monospace; background: #f3f3f3; border-radius: 3px }
code { padding: .1em .3em } pre { padding: .8em; overflow-x: auto }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1rem } th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #ddd }
h2 { margin-top: 2.5rem; border-bottom: 2px solid #222 } h3 { margin-top: 2rem }
label { display: block; margin: .6rem 0; max-width: 24rem } input { display: block; width: 100%; box-sizing: border-box }
input, button { font: inherit; padding: .5em .7em; border: 1px solid #767676; border-radius: 4px; color: inherit; background: #fff }
button { margin: .6rem .3rem .6rem 0; cursor: pointer; border-color: #15594c; color: #fff; background: #15594c } button.quiet { border-color: #767676; color: inherit; background: none }
:focus-visible { outline: 3px solid #8ab4f8; outline-offset: 1px } [role=alert] { color: #b00020 }
.wide { overflow-x: auto } pre code { padding: 0; background: none } h3 a, nav a { color: inherit; text-decoration: none } h3 a:hover, nav a:hover { text-decoration: underline }
.columns { columns: 12rem; padding-left: 1rem } .codes code { font-size: 12px } nav ul { list-style: none; padding-left: 0 } nav ul ul { padding-left: .8rem; font-size: 14px }
@media (min-width: 60rem) { body:has(.reference) { max-width: 84rem } .reference { display: grid; grid-template-columns: 19rem minmax(0, 1fr); gap: 2rem } nav { position: sticky; top: 0; max-height: 100vh; overflow-y: auto; font-size: 15px } nav .method { min-width: 3.2rem; font-size: 12px } }
details { margin: .3rem 0 } summary { cursor: pointer } .method { font-weight: 700; display: inline-block; min-width: 4.5rem; margin-right: .4rem } a { color: #15594c }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 } code, pre { background: #262626 } th, td { border-color: #333 } h2 { border-color: #ddd } a { color: #82cdb8 } input { background: #262626 } [role=alert] { color: #ff9aa2 } }
`

const headers = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src 'sha256-${new Bun.CryptoHasher('sha256').update(style).digest('base64')}'`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  // The consent page, on which a person allows the access of an OAuth client, refuses a form that came from another
  // site. It reads the site from the header Sec-Fetch-Site, or else from Origin. On http (except on the same machine),
  // a browser sends no Sec-Fetch-Site. With `no-referrer`, it would send `Origin: null`, and the page would refuse its
  // own form.
  'Referrer-Policy': 'same-origin',
}

export function htmlPage(
  title: string,
  body: string,
  { status = 200, cached = true }: { status?: number; cached?: boolean } = {},
): Response {
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · steno</title><style>${style}</style></head>
<body><main><h1>${escapeHtml(title)}</h1>
${body}
</main></body></html>
`
  const noStore = cached ? {} : { 'Cache-Control': 'no-store' }
  return new Response(html, { status, headers: { ...headers, ...noStore } })
}

export function pre(code: string): string {
  return `<pre><code>${escapeHtml(code)}</code></pre>`
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
