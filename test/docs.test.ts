// Runs the commands of all documents as a new user would, with the real program and the pocket model (a small test
// model). Also checks the settings, responses and programs in the documents. A block of code that is neither run nor
// checked must be listed in `notRun`. STENO_TEST_PROGRAM may name a built program, which is then tested instead of the
// source.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commands } from '../src/cli/commands.ts'
import { readConfig } from '../src/config.ts'
import {
  blocksOf,
  callsOf,
  commandsOf,
  documents,
  fieldsOf,
  readDocument,
  settingsOf,
} from './support/documents.ts'
import { clips, pocket, unless } from './support/engine-room.ts'
import { temporaryFolder } from './support/folder.ts'
import { projectRoot } from './support/project-root.ts'
import { conversation, type Home, openReader, type Reader, recording, startHome } from './support/reader.ts'
import { startReceiver } from './support/receiver.ts'

/**
 * The code blocks and commands that are not run. Each entry has the document, the start of the block, and the reason.
 */
const notRun: [string, string, string][] = [
  ['README.md', 'make run ', 'CI builds and tests; scripts/first-hour.sh starts the service'],
  ['README.md', 'POST /v1/transcribe ──▶', 'a picture'],
  ['CONTRIBUTING.md', 'make run', 'CI builds and tests'],
  ['native/README.md', 'bun scripts/build-media.ts', 'needs the source of FFmpeg and ten minutes'],
  ['native/README.md', 'bun scripts/build-operators.ts', 'needs the compiler of the media program'],
  ['docs/admin.md', 'STENO_MODELS_DIR=./models steno models pull', 'the model hub is outside'],
  ['docs/admin.md', 'sed ', 'test/program/systemd.test.ts starts the second service with it'],
  ['docs/admin.md', 'docker compose', 'needs Docker and a GPU'],
  ['docs/admin.md', 'systemctl stop', 'test/program/systemd.test.ts moves the data folder with it'],
  ['docs/admin.md', 'tar -xf', 'test/program/systemd.test.ts moves the service to another machine'],
  [
    'docs/admin.md',
    'systemctl disable',
    'test/program/systemd.test.ts moves and removes the service with it',
  ],
  ['docs/diarization.md', 'steno models pull', 'the model hub is outside'],
  ['docs/engines.md', 'steno models pull', 'the model hub is outside'],
  ['docs/guide.md', 'steno runtime pull cuda', "NVIDIA's packages are outside"],
  ['docs/guide.md', 'STENO_MODELS_DIR=./models steno models pull', 'the model hub is outside'],
  ['docs/guide.md', 'speech.example.org {', 'the settings of Caddy, which is no package here'],
  ['docs/live.md', 'retry: 2000', 'an answer with words left out; test/api/events.test.ts'],
  ['docs/mcp.md', 'claude mcp add', 'a program of Anthropic'],
  ['docs/recipes.md', 'npx @hey-api/openapi-ts', 'the generators are outside'],
  ['docs/releases.md', 'STENO_SIGNING_KEY=', 'needs the libraries of both CPUs and minutes'],
  ['docs/releases.md', 'STENO_RELEASE_KEY=', 'scripts/first-hour.sh builds with a key'],
  ['docs/releases.md', 'steno upgrade', 'scripts/first-hour.sh upgrades'],
  ['docs/standby.md', 'mkdir -p /mnt/steno', 'needs a shared folder; test/program/standby.test.ts'],
  ['docs/voices.md', 'curl -s -X POST localhost:8080/v1/voices', 'the clip has less than 5 s of each voice'],
  ['docs/voices.md', 'curl -s -X DELETE', 'needs the voice of the command above'],
  ['docs/workers.md', 'nats-server ', 'programs that run until they are ended; test/workers'],
  ['docs/workers.md', 'jetstream {', 'settings of nats-server; test/workers/rights.test.ts'],
]

const missing = !pocket || !clips
const skipped = unless(missing ? null : 'all', 'pocket model with its clips')
let home: Home

// The server must end before `temporaryFolder` removes the folder: a running server would unpack its embedded files
// there again. Functions of afterAll run in the order of their declaration.
afterAll(async () => {
  files.stop(true)
  if (!missing) expect(await home.close()).toBe(0)
})

const folder = temporaryFolder()
const receiver = startReceiver()
const files = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: ({ url }) => serveFile(new URL(url)) })

function serveFile({ pathname, origin, searchParams }: URL): Response {
  if (pathname === '/steno') return new Response(Bun.file(join(folder, 'bin/steno')))
  if (pathname.startsWith('/episodes/') && searchParams.get('token') !== 'x')
    return new Response(null, { status: 403 })
  if (pathname !== '/feed.xml') return new Response(Bun.file(recording))
  const episode = `${origin}/episodes/7.mp3?by=feed&amp;token=x`
  return new Response(`<rss><item><enclosure type="audio/mpeg" url="${episode}"/></item></rss>`)
}

beforeAll(async () => {
  if (!missing) home = await startHome(folder)
}, 60_000)

const isNotRun = (document: string, text: string) =>
  notRun.some(([place, start]) => place === document && text.startsWith(start))

test('each command or block that is not run exists', () => {
  const lines = (document: string) => blocksOf(readDocument(document)).flatMap(block => block.split('\n'))
  const lacking = notRun.filter(([document, start]) => !lines(document).some(line => line.startsWith(start)))
  expect(lacking).toEqual([])
})

/** Functions that create what a document's commands need, such as a job. They run before the first command. */
const preparations: Record<string, (reader: Reader) => Promise<void>> = {
  'docs/guide.md': keepCallback,
  'docs/live.md': reader => reader.transcribe({ webhook_url: receiver.url }),
  'docs/privacy.md': async ({ run }) => {
    await run('steno accounts create ana@example.org || true')
  },
  'docs/recipes.md': async ({ folder }) => {
    for (const place of ['recordings', 'films', 'talks', 'Nextcloud/Recordings']) {
      mkdirSync(join(folder, place), { recursive: true })
      copyFileSync(recording, join(folder, place, 'one.mp3'))
    }
  },
  'docs/search-and-edits.md': async ({ folder }) => {
    // An edit in docs/search-and-edits.md changes the fourth utterance, so the recording needs four utterances.
    copyFileSync(conversation, join(folder, 'talk.mp3'))
    copyFileSync(recording, join(folder, 'call.wav'))
  },
  'docs/uploads.md': async ({ folder }) =>
    symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules')),
}

/** Functions that check the results of a document's commands, after the last command. */
const results: Record<string, (reader: Reader) => Promise<void>> = {
  'docs/privacy.md': async ({ run }) => expect(await run('steno accounts list')).not.toContain('ana@'),
  'docs/recipes.md': async ({ folder }) => {
    const listed = (place: string) => readdirSync(join(folder, place)).toSorted()
    expect(listed('transcripts')).toEqual(['one.srt', 'one.txt'])
    expect(listed('episodes')).toEqual(['7.srt', '7.txt'])
    expect(listed('films')).toEqual(['one.mp3', 'one.srt'])
    expect(listed('Nextcloud/Transcripts')).toEqual(['one.md'])
    expect(listed('subtitles')).toEqual(['one.srt', 'one.vtt'])
  },
}

for (const document of documents) {
  const blocks = blocksOf(readDocument(document)).filter(block => !isNotRun(document, block))
  const spans = [...readDocument(document).matchAll(/`(?:\.\/)?(steno transcribe [a-z][^`…]*)`/g)]
  const singles = spans.map(([, call = '']) => call)
  if (blocks.length + singles.length === 0) continue
  test.skipIf(missing)(
    `${document}: each block works${skipped}`,
    async () => {
      const reader = openReader(home, document, {
        'https://example.org': files.url.origin,
        // A document searches for `budget` and `meeting`, but the recording does not contain these words. So the test
        // searches for two words of the recording instead.
        'budget+meeting': 'cloudy+evening',
      })
      try {
        await preparations[document]?.(reader)
        for (const text of [...blocks, ...singles]) await tryBlock(reader, document, text)
        await results[document]?.(reader)
      } finally {
        await reader.close()
      }
    },
    300_000,
  )
}

/** The checks of code blocks that are not shell code. The first pattern that matches a block selects its check. */
const forms: [RegExp, (reader: Reader, block: string) => unknown][] = [
  [/^\{"(servers|mcpServers)"/, (_, block) => expect(JSON.parse(block)).toBeObject()],
  [/^\{/, compareWithAnswer],
  [/^\[[\w.]+\]\n/, (_, block) => expect(Bun.TOML.parse(block)).toBeObject()],
  [/^(STENO_\w+=\S+\n?)+$/, (_, block) => readConfig(settingsOf(block))],
  [/^- name: /, runWorkflow],
  [/^http:/, authorize],
  [/^location/, tryNginx],
  [/^from openai /, runOpenAi],
  [/^import hashlib/, checkInPython],
  [/^import .* from 'node:crypto'/, checkInTypeScript],
  [/^import .* from 'tus-js-client'/, uploadByTus],
]

async function tryBlock(reader: Reader, document: string, block: string): Promise<void> {
  const [, form] = forms.find(([start]) => start.test(block)) ?? []
  if (form) return void (await form(reader, block))
  for (const command of commandsOf(block)) if (!isNotRun(document, command)) await tryCommand(reader, command)
}

const cue = /^1\n00:00:0.* --> /

/** The checks of command outputs. A pattern matches a command, and the function checks the output of this command. */
const outputs: [RegExp, (out: string, reader: Reader) => unknown][] = [
  [/format=srt|--format srt$|response_format=srt/, out => expect(out).toMatch(cue)],
  [/format=vtt&include_speakers/, out => expect(out).toMatch(/^WEBVTT\n[\s\S]*<v Speaker 1>/)],
  [/format=text&include_timestamps/, out => expect(out).toStartWith('[00:00] ')],
  [/\$job\?format=text|response_format=text/, out => expect(out).toContain('cloudy')],
  [/^journalctl/, (out, { known }) => expect(out).toContain(known.ID!)],
  [/openssl dgst -sha256 -hmac/, (out, { known }) => expect(out.trim()).toBe(known.SIGNATURE!)],
  [
    /\/peaks"/,
    ({ length }, { folder }) =>
      expect([length, Bun.file(join(folder, 'peaks')).size > 50]).toEqual([0, true]),
  ],
  [/bytes=0-999/, (_, { folder }) => expect(Bun.file(join(folder, 'part')).size).toBe(1000)],
]

async function tryCommand(reader: Reader, command: string): Promise<void> {
  const out = await reader.run(adapted(command))
  for (const [pattern, check] of outputs) if (pattern.test(command)) check(out, reader)
}

/**
 * Changes a command so that a test can run it. `steno watch` ends after its first result. A cron command runs at once,
 * with its backup in the test folder.
 */
function adapted(command: string): string {
  if (command.startsWith('0 3 * * * root '))
    return `mkdir -p backups; ${command
      .slice(15)
      .replaceAll('/usr/local/bin/', '')
      .replaceAll('/var/backups', './backups')
      .replaceAll('\\%', '%')}`
  // The server logs a request after its response, so the command is repeated until the log has the line.
  if (command.startsWith('journalctl')) return `until ${command} | grep .; do sleep 0.1; done`
  if (!command.startsWith('steno watch')) return command
  return `${command} & watcher=$!
    until ls ~/Nextcloud/Transcripts/*.md 2>/dev/null; do kill -0 $watcher && sleep 0.1 || break; done
    kill -TERM $watcher; wait $watcher || [ $? -gt 128 ]`
}

/** Checks that the last response has the same fields as the example in the document. */
function compareWithAnswer({ last }: Reader, block: string): void {
  expect(fieldsOf(JSON.parse(block))).toEqual(fieldsOf(JSON.parse(last)))
}

async function runWorkflow({ run }: Reader, block: string): Promise<void> {
  const [step] = Bun.YAML.parse(block) as { run: string }[]
  await run(`export PROGRAM_URL=${files.url.origin}/steno`)
  for (const command of commandsOf(step?.run ?? '')) await run(command)
}

/** Allows access on the authorization page of an OAuth client, as a signed-in person. Stores the authorization code. */
async function authorize({ known, run }: Reader, block: string): Promise<void> {
  const address = block
    .replace(/\s/g, '')
    .replace('http://localhost:8080', home.url)
    .replace('CLIENT_ID', known.CLIENT_ID!)
    .replace('CHALLENGE', (await run('echo $CHALLENGE')).trim())
  const headers = { 'Content-Type': 'application/json' }
  const body = JSON.stringify({ key: home.key })
  const session = await fetch(`${home.url}/app/session`, { method: 'POST', headers, body })
  const [cookie = ''] = session.headers.get('set-cookie')?.split(';') ?? []
  const page = await fetch(address, { headers: { Cookie: cookie } })
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('My program')])
  const form = new URLSearchParams([...new URL(address).searchParams, ['decision', 'allow']])
  const sent = await fetch(`${home.url}/oauth/authorize`, {
    method: 'POST',
    headers: { Cookie: cookie, Origin: home.url },
    body: form,
    redirect: 'manual',
  })
  known.CODE = new URL(sent.headers.get('location')!).searchParams.get('code')!
}

const nginx = Bun.which('nginx')
function tryNginx({ folder }: Reader, block: string): undefined {
  if (!nginx) return void console.warn('SKIPPED: no nginx here to check the lines of docs/guide.md')
  writeFileSync(
    join(folder, 'nginx.conf'),
    `pid ${folder}/pid; error_log stderr; events {} http { server { listen 127.0.0.1:1; ${block} } }`,
  )
  const { exitCode, stderr } = Bun.spawnSync([nginx, '-t', '-p', folder, '-c', join(folder, 'nginx.conf')])
  expect([exitCode, `${stderr}`]).toEqual([0, expect.stringContaining('successful')])
}

const python = Bun.which('python3')
const hasOpenAi = python !== null && Bun.spawnSync([python, '-c', 'import openai']).exitCode === 0

async function runOpenAi({ folder, run }: Reader, block: string): Promise<void> {
  if (!hasOpenAi) return console.warn('SKIPPED: no Python with the package openai here for docs/openai.md')
  const text = block.replace('http://localhost:8080', home.url).replace('sk_live_…', home.key)
  writeFileSync(join(folder, 'example.py'), text)
  expect(await run('python3 example.py')).toContain('cloudy')
}

/**
 * Creates a job with a webhook. Stores the webhook's body in a file, and its timestamp and signature in `known`, for
 * later commands of the document.
 */
async function keepCallback({ transcribe, known, folder }: Reader): Promise<void> {
  const before = receiver.received.length
  await transcribe({ webhook_url: receiver.url })
  await receiver.got(before + 2)
  const { headers, raw } = receiver.received.at(-1)!
  known.TIMESTAMP = headers.get('x-service-timestamp')!
  known.SIGNATURE = headers.get('x-service-signature')!
  writeFileSync(join(folder, 'body.json'), raw)
}

/**
 * Returns the arguments of four calls of a program that checks webhook signatures: with the right body, a wrong body,
 * a timestamp that is no number, and a signature that is not ASCII.
 */
async function checksOf({ known, folder }: Reader): Promise<string[]> {
  const raw = await Bun.file(join(folder, 'body.json')).text()
  const { TIMESTAMP, SIGNATURE } = known
  const calls = [
    [TIMESTAMP, SIGNATURE, raw],
    [TIMESTAMP, SIGNATURE, `${raw} `],
    ['now', SIGNATURE, raw],
    [TIMESTAMP, 'é'.repeat(32), raw],
  ]
  return calls.map(call => [home.key, ...call].map(word => JSON.stringify(word)).join(', '))
}

async function checkInPython(reader: Reader, block: string): Promise<void> {
  if (!python) return console.warn('SKIPPED: no Python here to check a signature')
  const calls = (await checksOf(reader)).map(args => `print(is_ours(${args}.encode()))`)
  writeFileSync(join(reader.folder, 'check.py'), [block, ...calls].join('\n'))
  expect(await reader.run('python3 check.py')).toBe('True\nFalse\nFalse\nFalse\n')
}

async function checkInTypeScript(reader: Reader, block: string): Promise<void> {
  const calls = (await checksOf(reader)).map(args => `console.log(isOurs(${args}))`)
  writeFileSync(join(reader.folder, 'check.ts'), [block, ...calls].join('\n'))
  expect(await reader.run(`'${process.execPath}' check.ts`)).toBe('true\nfalse\nfalse\nfalse\n')
}

async function uploadByTus({ folder, run, known }: Reader, block: string): Promise<void> {
  const before = `
    import { readFileSync } from 'node:fs'
    const file = Object.assign(readFileSync('talk.mp3'), { name: 'talk.mp3' })
    const key = '${home.key}'
    const transcribe = (id: string) => console.log(id)\n`
  writeFileSync(join(folder, 'upload.ts'), before + block.replace('http://localhost:8080', home.url))
  known.UPLOAD_ID = (await run(`'${process.execPath}' upload.ts`)).trim()
  await run(
    `curl -sf localhost:8080/v1/transcribe -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"upload_id": "UPLOAD_ID"}'`,
  )
}

test('every command and option that the documents name exists', async () => {
  const calls = documents.flatMap(path => callsOf(readDocument(path)))
  expect(calls.length).toBeGreaterThan(40)
  for (const { words, options } of calls) {
    const names = [words.join(' '), words[0]!]
    const [name = ''] = names.filter(each => each in commands)
    const isGroup = Object.keys(commands).some(each => each.startsWith(`${words[0]} `))
    expect([words, name !== '' || (isGroup && words.length === 1)]).toEqual([words, true])
    const described = await commands[name]?.()
    const known = ['help', ...Object.keys(described?.options ?? {})]
    expect([words, options.filter(option => !known.includes(option))]).toEqual([words, []])
  }
})
