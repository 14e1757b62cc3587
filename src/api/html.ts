// Creates HTML pages. The pages have no scripts and load no other files, so they also work without the
// internet.

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
code, pre { font: 14px/1.4 ui-monospace, monospace; background: #f3f3f3; border-radius: 3px }
code { padding: .1em .3em } pre { padding: .8em; overflow-x: auto }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1rem } th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #ddd }
h2 { margin-top: 2.5rem; border-bottom: 2px solid #222 } h3 { margin-top: 2rem }
details { margin: .3rem 0 } summary { cursor: pointer } .method { font-weight: 700; display: inline-block; min-width: 4.5rem }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 } code, pre { background: #262626 } th, td { border-color: #333 } h2 { border-color: #ddd } a { color: #8ab4f8 } }
`

export function htmlPage(title: string, body: string): Response {
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · steno</title><style>${style}</style></head>
<body><h1>${escapeHtml(title)}</h1>
${body}
</body></html>
`
  return new Response(html, {
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
      'X-Content-Type-Options': 'nosniff',
    },
  })
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
