// Runs the commands of README.md and of the guides as a new user would. The real program uses the pocket model. A
// command that this file neither runs nor lists in `elsewhere` fails the test. If STENO_TEST_PROGRAM names a built
// program, that program is tested instead of the source.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { clips, pocket, unless } from './support/engine-room.ts'
import { temporaryFolder } from './support/folder.ts'
import { type Received, startReceiver } from './support/receiver.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const readme = read('README.md')
const guide = read('docs/guide.md')
/** The guides whose code blocks are run in order. All blocks of a guide together are one script. */
const scripted = ['recipes', 'admin', 'privacy'].map(name => ({ name, text: read(`docs/${name}.md`) }))
/**
 * The guides whose commands are run one at a time. Only commands without placeholders other than ID and KEY are run.
 */
const single = ['live', 'media'].map(name => read(`docs/${name}.md`))
const program = process.env.STENO_TEST_PROGRAM
  ? [resolve(process.env.STENO_TEST_PROGRAM)]
  : [process.execPath, join(root, 'src/main.ts')]

/**
 * Patterns of commands that this file does not run. Each entry also names the test that covers the command, or the
 * reason why no test does.
 */
const elsewhere: [RegExp, string][] = [
  [/^make /, 'what CI and test/program/binary.test.ts run'],
  [/^export KEY=/, 'the key of the test'],
  [/^STENO_MODELS_DIR=\S+ steno models pull/, 'test/cli/models.test.ts pulls from a hub of its own'],
  [/^steno runtime pull/, 'test/cli/runtime.test.ts'],
  [/^steno watch/, 'test/cli/watch.test.ts; the command does not end by itself'],
  [/journalctl|systemctl|^0 3 \* \* \*/, 'needs a machine with the installed service'],
  [/^- name: /, 'a step of a GitHub workflow; its command is that of the folder recipe'],
  [/^(STENO_\w+=\S+\n?)+$/, 'settings; test/config.test.ts'],
  [/^retry: /, 'an answer, not a command'],
]

/** Returns the indented code blocks of a Markdown text, without their indentation. */
function blocksOf(text: string): string[] {
  return [...text.matchAll(/(?:^ {4}.*\n|^\n(?= {4}))+/gm)].map(([block]) =>
    block.replace(/^ {4}/gm, '').trim(),
  )
}

function commandsOf(text: string): string[] {
  return blocksOf(text).flatMap(block =>
    [...block.matchAll(/^(?:[A-Z_]+=\S+ )*(?:curl|steno|make|export|bun) (?:.*\\\n)*.*$/gm)].map(([each]) =>
      each.trim(),
    ),
  )
}

const missing = !pocket || !clips
const skipped = unless(pocket && clips, 'pocket model with its clips')
const folder = temporaryFolder()
let server: ReturnType<typeof Bun.spawn> | null = null
let address = ''
let key = ''

beforeAll(async () => {
  if (missing) return
  // The commands in the docs use the filename talk.mp3. The program detects the format from the content, so the FLAC
  // file is accepted under this name.
  copyFileSync(join(clips!, 'doctor.flac'), join(folder, 'talk.mp3'))
  mkdirSync(join(folder, 'bin'))
  writeFileSync(
    join(folder, 'bin/steno'),
    `#!/bin/sh\nexec ${program.map(word => `'${word}'`).join(' ')} "$@"\n`,
    { mode: 0o755 },
  )
  const started = Bun.spawn(
    [...program, 'serve', '--port', '0', '--data-dir', 'data', '--allow-nets', '127.0.0.0/8'],
    {
      cwd: folder,
      env: { PATH: process.env.PATH!, STENO_MODEL: 'pocket', STENO_RATE_LIMITS: 'off' },
      stdout: 'pipe',
      stderr: 'ignore',
    },
  )
  server = started
  let told = ''
  for await (const chunk of started.stdout) {
    told += new TextDecoder().decode(chunk)
    if (told.includes('sk_live_') && told.endsWith('\n')) break
  }
  address = /listens on http:\/\/(\S+)/.exec(told)![1]!
  key = /sk_live_[\w-]+/.exec(told)![0]
}, 30_000)

afterAll(async () => {
  server?.kill('SIGTERM')
  await server?.exited
})

async function shell(command: string, environment: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn(['bash', '-euo', 'pipefail', '-c', command], {
    cwd: folder,
    env: {
      PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
      HOME: folder,
      KEY: key,
      STENO_MODEL: 'pocket',
      STENO_ENV_FILE: join(folder, 'no.env'),
      STENO_CACHE_DIR: join(folder, 'cache'),
      ...environment,
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(`${command}\n${err}`)
  return out
}

const known: Record<string, string> = {}

/**
 * Runs a command and returns its output. Placeholders such as UPLOAD_URL are replaced with values from
 * previous responses.
 */
async function run(command: string): Promise<string> {
  let text = command.replaceAll('localhost:8080', address)
  for (const [name, value] of Object.entries(known))
    text = text.replace(new RegExp(`\\b${name}\\b`, 'g'), value)
  const out = await shell(text)
  if (out.startsWith('{')) {
    const { upload_url, upload_id, id, error } = JSON.parse(out)
    expect([command, error]).toEqual([command, undefined])
    if (upload_url) Object.assign(known, { UPLOAD_URL: upload_url, UPLOAD_ID: upload_id })
    if (id) known.ID = id
  }
  return out
}

async function finished(): Promise<Record<string, unknown>> {
  for (;;) {
    const job = JSON.parse(
      await run(commandsOf(readme).find(each => each.endsWith(`/ID -H "Authorization: Bearer $KEY"`))!),
    )
    if (job.status === 'completed') return job
    expect(job.status).not.toBe('failed')
    await Bun.sleep(30)
  }
}

test('every command of the README and the guide is covered by a test', () => {
  const commands = [...commandsOf(readme), ...commandsOf(guide)]
  expect(commands.length).toBeGreaterThan(12)
  const strange = commands.filter(
    each => !each.startsWith('curl ') && !elsewhere.some(([known]) => known.test(each)),
  )
  expect(strange).toEqual([])
})

const upload = () => commandsOf(readme).filter(each => /\/v1\/upload |UPLOAD_URL/.test(each))

test.skipIf(missing)(
  `the commands of the README work in their order${skipped}`,
  async () => {
    const [ask, send, ...rest] = commandsOf(readme).filter(each => each.startsWith('curl'))
    expect([ask, send]).toEqual(upload())
    await run(ask!)
    await run(send!)
    await run(rest[0]!)
    expect(await finished()).toMatchObject({ result: { full_transcript: expect.stringContaining('cloudy') } })
    expect(await run(rest[2]!)).toMatch(/^1\n00:00:0.* --> /)
    expect(rest.length).toBe(3)
  },
  180_000,
)

test.skipIf(missing)(
  `every curl command of the guide works${skipped}`,
  async () => {
    using files = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => new Response(Bun.file(join(folder, 'talk.mp3'))),
    })
    known['https://example.org/talk.mp3'] = `http://127.0.0.1:${files.port}/talk.mp3`
    for (const command of commandsOf(guide).filter(each => each.startsWith('curl'))) {
      if (command.includes('UPLOAD_ID')) for (const each of upload()) await run(each)
      const out = await run(command)
      expect(out.length).toBeGreaterThan(20)
      if (command.includes('-X POST')) {
        const { result } = (await finished()) as { result: { speakers: string[] | null } }
        expect(result.speakers).toEqual(command.includes('"diarize": true') ? ['SPEAKER 1'] : null)
      }
      if (command.includes('format=vtt')) expect(out).toMatch(/^WEBVTT\n[\s\S]*<v Speaker 1>/)
      if (command.includes('format=text')) expect(out).toStartWith('[00:00] ')
    }
  },
  180_000,
)

test.skipIf(missing)(
  `a file is transcribed without a server, as in the README${skipped}`,
  async () => {
    const [command] = /\.\/steno transcribe [^`]+/.exec(readme)!
    const out = await shell(command.replace('./steno', 'steno'))
    expect(out).toMatch(/^1\n00:00:0.* --> /)
  },
  30_000,
)

async function callback(): Promise<Received> {
  const receiver = startReceiver()
  for (const each of upload()) await run(each)
  const order = { upload_id: known.UPLOAD_ID, webhook_url: receiver.url }
  await run(
    `curl -s -X POST localhost:8080/v1/transcribe -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '${JSON.stringify(order)}'`,
  )
  await receiver.got(1)
  return receiver.received[0]!
}

const python = Bun.which('python3')

test.skipIf(missing)(
  `the signature of a callback is checked in bash, ${python ? 'Python' : 'NOT IN PYTHON, which is not here,'} and TypeScript${skipped}`,
  async () => {
    const { headers, raw } = await callback()
    const [timestamp, signature] = ['x-service-timestamp', 'x-service-signature'].map(
      name => headers.get(name)!,
    )
    const block = (start: string) => blocksOf(guide).find(each => each.startsWith(start))!
    writeFileSync(join(folder, 'body.json'), raw)
    expect((await shell(block('secret='), { TIMESTAMP: timestamp! })).trim()).toBe(signature!)

    const bodies = [raw, `${raw} `]
    if (python) {
      const ask = bodies.map(
        each =>
          `print(is_ours(${[key, timestamp, signature].map(word => JSON.stringify(word))}, ${JSON.stringify(each)}.encode()))`,
      )
      writeFileSync(join(folder, 'check.py'), [block('import hashlib'), ...ask].join('\n'))
      expect(await shell('python3 check.py')).toBe('True\nFalse\n')
    }
    const ask = bodies.map(
      each => `console.log(isOurs(${[key, timestamp, signature, each].map(word => JSON.stringify(word))}))`,
    )
    writeFileSync(join(folder, 'check.ts'), [block('import { createHash'), ...ask].join('\n'))
    expect(await shell(`'${process.execPath}' check.ts`)).toBe('true\nfalse\n')
  },
  180_000,
)

test('every command that the documents name has a help text', async () => {
  const named = new Set(
    [
      ...[readme, guide, ...scripted.map(({ text }) => text)]
        .join('\n')
        .matchAll(/`(?:\.\/steno|steno) ([a-z]+(?: [a-z]+(?:\\?\|[a-z]+)*)?)/g),
    ].map(([, words]) => words!),
  )
  expect(named.size).toBeGreaterThan(12)
  for (const words of named) {
    const [first, second] = words.split(' ')
    for (const each of second?.split(/\\?\|/) ?? ['']) {
      const child = Bun.spawnSync([...program, first!, ...(each ? [each] : []), '--help'])
      expect([words, child.exitCode]).toEqual([words, 0])
    }
  }
}, 180_000)

const jq = Bun.which('jq')
test.skipIf(missing || !jq)(
  `every block of the other guides runs as a script${jq ? '' : ' (SKIPPED: no jq here)'}${skipped}`,
  async () => {
    const talk = join(folder, 'talk.mp3')
    for (const place of ['recordings', 'films']) {
      mkdirSync(join(folder, place))
      copyFileSync(talk, join(folder, place, 'one.mp3'))
    }
    const feed = (url: string): string =>
      `<rss><item><enclosure type="audio/mpeg" url="${url}episodes/7.mp3"/></item></rss>`
    using web: Bun.Server<undefined> = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: ({ url }) => new Response(url.endsWith('feed.xml') ? feed(web.url.href) : Bun.file(talk)),
    })
    const data = join(folder, 'data')
    await shell(`steno accounts create ana@example.org --data-dir '${data}'`)
    for (const { name, text } of scripted) {
      for (const block of blocksOf(text)) {
        if (elsewhere.some(([known]) => known.test(block))) continue
        for (const each of upload()) await run(each)
        await run(commandsOf(readme).find(each => each.includes('"diarize": true'))!)
        await finished()
        const script = block
          .replaceAll('localhost:8080', address)
          .replaceAll('https://example.org/', web.url.href)
          .replace(/(?<!\$)\bID\b(?=["' ])/g, known.ID!)
        const environment = {
          ID: known.ID!,
          DATA: data,
          STENO_DATA_DIR: data,
          EMPTY: join(folder, `empty of ${name}`),
        }
        if (block.includes('steno doctor'))
          Object.assign(environment, { STENO_DISK_RESERVE: '1MB', STENO_MAX_FILE_SIZE: '1MB' })
        await shell(script, environment)
      }
    }
    for (const each of upload()) await run(each)
    await run(commandsOf(readme).find(each => each.includes('"diarize": true'))!)
    await finished()
    const runnable = single
      .flatMap(commandsOf)
      .filter(each => !/(?<!\$)\b(?!ID\b|KEY\b)[A-Z]+_ID\b|\$(?!ID\b|KEY\b)[A-Z]/.test(each))
    expect(runnable.length).toBeGreaterThan(3)
    for (const each of runnable) {
      const out = await shell(
        each.replaceAll('localhost:8080', address).replace(/(?<!\$)\bID\b(?=["' ?/])/g, known.ID!),
        { ID: known.ID! },
      )
      expect([each, out.includes('"error":{')]).toEqual([each, false])
    }
    expect(readdirSync(join(folder, 'transcripts')).sort()).toEqual(['one.srt', 'one.txt'])
    expect(readdirSync(join(folder, 'episodes')).sort()).toEqual(['7.srt', '7.txt'])
    expect(existsSync(join(folder, 'films/one.srt'))).toBe(true)
    expect(await shell(`steno accounts list --data-dir '${data}'`)).not.toContain('ana@example.org')
  },
  300_000,
)

const nginx = Bun.which('nginx')
test.skipIf(!nginx)(`nginx accepts the guide's lines${nginx ? '' : ' (SKIPPED: no nginx here)'}`, () => {
  const place = temporaryFolder()
  const lines = blocksOf(guide).find(each => each.startsWith('location /'))!
  const whole = `pid ${place}/pid; error_log stderr; events {} http { server { listen 127.0.0.1:1; ${lines} } }`
  writeFileSync(join(place, 'nginx.conf'), whole)
  const { exitCode, stderr } = Bun.spawnSync([nginx!, '-t', '-p', place, '-c', join(place, 'nginx.conf')])
  expect([exitCode, `${stderr}`]).toEqual([0, expect.stringContaining('successful')])
})
