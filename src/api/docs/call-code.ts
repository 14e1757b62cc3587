// Writes a call of the API in curl, Python and TypeScript. The code uses only the standard libraries.

export type Call = { method: string; url: string; headers: Record<string, string>; body: string | null }

/**
 * The letter that is added to `curl -s` for a method: none for GET, and I for HEAD. Any other method is given with -X.
 * With -X HEAD, curl would wait for a body that never comes.
 */
const methodFlags: Record<string, string> = { GET: '', HEAD: 'I' }

export function curl({ method, url, headers, body }: Call): string {
  const parts = [
    `curl -s${methodFlags[method] ?? ` -X ${method}`} '${url}'`,
    ...Object.entries(headers).map(([name, value]) => `-H "${name}: ${value}"`),
    ...(body === null ? [] : [`-d '${body}'`]),
  ]
  return parts.join(' \\\n  ')
}

export function python({ method, url, headers, body }: Call): string {
  const given = Object.entries(headers).map(([name, value]) =>
    value.includes('$KEY') ? `"${name}": "Bearer " + os.environ["KEY"]` : `"${name}": "${value}"`,
  )
  return [
    'import os, urllib.request',
    '',
    'request = urllib.request.Request(',
    `    "${url}",`,
    `    method="${method}",`,
    `    headers={${given.join(', ')}},`,
    ...(body === null ? [] : [`    data=b'${body}',`]),
    ')',
    'with urllib.request.urlopen(request) as answer:',
    '    print(answer.read().decode())',
  ].join('\n')
}

export function typescript({ method, url, headers, body }: Call): string {
  const given = Object.entries(headers).map(([name, value]) =>
    value.includes('$KEY') ? `${name}: \`Bearer \${process.env.KEY}\`` : `'${name}': '${value}'`,
  )
  return [
    `const answer = await fetch('${url}', {`,
    `  method: '${method}',`,
    ...(given.length > 0 ? [`  headers: { ${given.join(', ')} },`] : []),
    ...(body === null ? [] : [`  body: JSON.stringify(${body}),`]),
    '})',
    'console.log(await answer.text())',
  ].join('\n')
}
