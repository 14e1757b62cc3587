import { expect, test } from 'bun:test'
import { findRevision, hubFrom, listFiles, openFile } from '../../src/net/hub.ts'

const { signal } = new AbortController()

/**
 * Lists the files of a repository from a fake hub (a server of model files, such as Hugging Face). `answer` makes the
 * responses of the hub. Returns the list, or the error message.
 */
async function listed(answer: (request: Request) => Response) {
  using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer })
  const endpoint = `http://name:secret@127.0.0.1:${server.port}`
  const hub = { endpoint, token: null }
  const found = await listFiles(hub, 'owner/name', 'abcdef0', signal).catch(({ message }) => message)
  return typeof found === 'string' ? found.replaceAll(`:${server.port}`, '') : found
}

test('files of a list have the size and the hash of their content, also those in large storage', async () => {
  const lfs = { oid: 'sha256:cd', size: 900 }
  const rows = [
    { type: 'directory', path: 'onnx', size: 0, oid: 'a' },
    { type: 'file', path: 'config.json', size: 3, oid: 'ab' },
    { type: 'file', path: 'onnx/model.onnx', size: 134, oid: 'b', lfs },
  ]
  // Without this query, the hub lists only the files at the top of the repository.
  const answer = ({ url }: Request) =>
    Response.json(url.endsWith('?recursive=true') ? rows : rows.slice(0, 2))
  expect(await listed(answer)).toEqual([
    { path: 'config.json', size: 3, hash: { kind: 'git', value: 'ab' } },
    { path: 'onnx/model.onnx', size: 900, hash: { kind: 'sha256', value: 'cd' } },
  ])
})

const file = { type: 'file', path: 'config.json', size: 3, oid: 'ab' }

test.each([
  null,
  { error: 'no such repository' },
  [null, { ...file, path: 5 }],
  [{ ...file, size: '3' }],
  [{ ...file, size: -1 }],
  [{ ...file, size: 1.5 }],
  [{ ...file, oid: null }],
  [{ ...file, lfs: { size: 3 } }],
])('an answer that is no list of files is named as such: %j', async rows => {
  expect(await listed(() => Response.json(rows))).toBe(
    'http://127.0.0.1/ sent no list of the files of owner/name',
  )
})

test('a page in place of the list, such as that of a sign-in, is named as such', async () => {
  expect(await listed(() => new Response('<html>'))).toStartWith(
    'http://127.0.0.1/api/models/owner/name/tree/abcdef0 did not answer with JSON (',
  )
})

test.each([null, {}, { sha: '../main' }])('an answer without a commit is named as such: %j', async answer => {
  using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json(answer) })
  const hub = { endpoint: server.url.origin, token: null }
  await expect(findRevision(hub, 'owner/name', 'main', signal)).rejects.toThrow('the hub named no commit')
})

test('a request for a file names its path, its first byte and the token, and asks for an uncompressed body', async () => {
  const requests: unknown[] = []
  using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ url, headers }) {
      const names = ['accept-encoding', 'authorization', 'range']
      requests.push([new URL(url).pathname, ...names.map(name => headers.get(name))])
      return new Response('content')
    },
  })
  const file = { repository: 'owner/name', revision: 'abcdef0', path: 'onnx/a #1.onnx' }
  const endpoint = server.url.origin
  await openFile({ endpoint, token: 'secret' }, { ...file, from: 5 }, signal)
  await openFile({ endpoint, token: null }, { ...file, from: 0 }, signal)
  const path = '/owner/name/resolve/abcdef0/onnx/a%20%231.onnx'
  expect(requests).toEqual([
    [path, 'identity', 'Bearer secret', 'bytes=5-'],
    [path, 'identity', null, null],
  ])
})

test('the hub is Hugging Face, unless a variable with a value names another one', () => {
  const variables = { HF_ENDPOINT: '', HF_TOKEN: '' }
  expect(hubFrom(variables)).toEqual({ endpoint: 'https://huggingface.co', token: null })
  expect(hubFrom({ HF_ENDPOINT: 'http://mirror/hub//' }).endpoint).toBe('http://mirror/hub')
})

test.each([
  [401, '; a token in HF_TOKEN may be needed'],
  [403, '; a token in HF_TOKEN may be needed'],
  [404, ''],
])('the message on a refusal with the status %p has the hint %p', async (status, hint) => {
  const message = await listed(() => new Response('', { status }))
  expect(message).toBe(`http://127.0.0.1/api/models/owner/name/tree/abcdef0 answered ${status}${hint}`)
})

test('a request that is aborted rejects with the reason of the abort', async () => {
  const hub = { endpoint: 'http://127.0.0.1:1', token: null }
  const aborted = AbortSignal.abort(new Error('stopped'))
  await expect(listFiles(hub, 'owner/name', 'abcdef0', aborted)).rejects.toThrow('stopped')
})
