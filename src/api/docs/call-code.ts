// Writes a call of the API in curl, Python and TypeScript, with only the standard libraries.

export type Call = {
  method: string
  url: string
  headers: Record<string, string>
  body: string | null
  /**
   * What the example code does with the response: `text` prints the body, and `stream` prints the body while it
   * arrives. `file` stores the body in a file. `headers` prints the headers of a response without a body.
   */
  result: 'text' | 'stream' | 'file' | 'headers'
}

/** Returns the name of the file for the response: the end of the path. */
const fileOf = (url: string) => url.slice(url.lastIndexOf('/') + 1)

/** The letter, if any, that is added to `curl -s` for a kind of response. */
const curlFlags: Record<Call['result'], string> = { text: '', stream: 'N', file: '', headers: 'i' }

export function curl({ method, url, headers, body, result }: Call): string {
  // With -X HEAD, curl would wait for a body that never comes.
  const start = method === 'HEAD' ? 'curl -sI' : `curl -s${curlFlags[result]}`
  const parts = [
    `${start}${['GET', 'HEAD'].includes(method) ? '' : ` -X ${method}`} '${url}'`,
    ...Object.entries(headers).map(([name, value]) => `-H "${name}: ${value}"`),
    ...(body === null ? [] : [`-d '${body}'`]),
    ...(result === 'file' ? [`-o ${fileOf(url)}`] : []),
  ]
  return parts.join(' \\\n  ')
}

type Results = Record<Call['result'], (url: string) => string>

const pythonResults: Results = {
  text: () => 'print(answer.read().decode())',
  stream: () => 'for line in answer: print(line.decode(), end="")',
  file: url => `open("${fileOf(url)}", "wb").write(answer.read())`,
  headers: () => 'print(answer.status, answer.headers)',
}

export function python({ method, url, headers, body, result }: Call): string {
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
    `    ${pythonResults[result](url)}`,
  ].join('\n')
}

const typescriptResults: Results = {
  text: () => 'console.log(await answer.text())',
  stream: () =>
    'for await (const part of answer.body!.pipeThrough(new TextDecoderStream())) process.stdout.write(part)',
  file: url => `await writeFile('${fileOf(url)}', Buffer.from(await answer.arrayBuffer()))`,
  headers: () => 'console.log(answer.status, answer.headers)',
}

export function typescript({ method, url, headers, body, result }: Call): string {
  const given = Object.entries(headers).map(([name, value]) =>
    value.includes('$KEY') ? `${name}: \`Bearer \${process.env.KEY}\`` : `'${name}': '${value}'`,
  )
  return [
    ...(result !== 'file' ? [] : ["import { writeFile } from 'node:fs/promises'", '']),
    `const answer = await fetch('${url}', {`,
    `  method: '${method}',`,
    ...(given.length > 0 ? [`  headers: { ${given.join(', ')} },`] : []),
    ...(body === null ? [] : [`  body: JSON.stringify(${body}),`]),
    '})',
    typescriptResults[result](url),
  ].join('\n')
}
