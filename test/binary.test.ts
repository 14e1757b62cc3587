// The built program alone in an empty folder, with an empty environment and, where that can be had, no network.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { noticesOf } from '../src/cli/notices.ts'

const root = join(import.meta.dir, '..')
const clip = join(import.meta.dir, 'fixtures/speech/doctor.flac')
const folder = mkdtempSync(join(tmpdir(), 'steno-binary-'))
const binary = join(folder, 'steno')
const cutOff = Bun.spawnSync(['unshare', '-rn', 'true']).exitCode === 0 ? ['unshare', '-rn'] : []

beforeAll(() => {
  const build = Bun.spawnSync([process.execPath, 'scripts/build.ts', binary], { cwd: root })
  if (build.exitCode !== 0) throw new Error(build.stderr.toString())
}, 120_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test(`doctor finds everything it needs${cutOff.length > 0 ? '' : ' (WITH a network: unshare is not allowed here)'}`, () => {
  const place = emptyFolder('doctor')
  const doctor = Bun.spawnSync([...cutOff, binary, 'doctor'], { cwd: place, env: {} })
  expect([doctor.exitCode, doctor.stderr.toString()]).toEqual([0, ''])
  expect(doctor.stdout.toString()).toContain('If it is cloudy this evening')
  expect(readdirSync(place)).toEqual(['steno-data'])
}, 60_000)

const strace = Bun.which('strace')
test.skipIf(strace === null)(
  `it asks nobody for anything and writes into its data folder alone${strace ? '' : ' (SKIPPED: there is no strace here)'}`,
  () => {
    const place = emptyFolder('traced')
    const home = emptyFolder('home')
    const trace = join(folder, 'trace')
    const calls =
      'connect,openat,open,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,unlink,unlinkat'
    const doctor = Bun.spawnSync(
      [strace!, '-f', '-qq', '-e', `trace=${calls}`, '-o', trace, binary, 'doctor'],
      {
        cwd: place,
        env: { HOME: home },
      },
    )
    expect([doctor.exitCode, doctor.stderr.toString()]).toEqual([0, ''])
    const lines = readFileSync(trace, 'utf8').split('\n')
    expect(lines.length).toBeGreaterThan(100)
    // A name service cache is asked for the user's name, through a file.
    expect(lines.filter(line => line.includes('connect(') && !line.includes('AF_UNIX'))).toEqual([])
    const changes = lines.filter(line =>
      line.includes('open')
        ? /O_WRONLY|O_RDWR|O_CREAT/.test(line)
        : !/connect\(|^\d+ (\+\+\+|---)/.test(line),
    )
    const outside = changes
      .flatMap(line => /"([^"]*)"/.exec(line)?.[1] ?? [])
      .map(path => resolve(place, path))
      .filter(path => !path.startsWith(join(place, 'steno-data')) && !path.startsWith('/dev/'))
    expect(outside).toEqual([])
    expect(changes.length).toBeGreaterThan(20)
    expect(readdirSync(home)).toEqual([])
  },
  60_000,
)

test('it installs itself below a folder, twice, and keeps what an operator has set', () => {
  const place = emptyFolder('image')
  const install = () => Bun.spawnSync([binary, 'install', '--root', '.'], { cwd: place, env: {} }).exitCode
  expect(install()).toBe(0)
  writeFileSync(join(place, 'etc/steno.env'), 'STENO_PORT=9090\n')
  expect(install()).toBe(0)
  expect(readFileSync(join(place, 'etc/steno.env'), 'utf8')).toBe('STENO_PORT=9090\n')
  expect(readFileSync(join(place, 'etc/systemd/system/steno.service'), 'utf8')).toContain('User=steno')
  const { exitCode } = Bun.spawnSync([join(place, 'usr/local/bin/steno'), 'version'], { cwd: place, env: {} })
  expect(exitCode).toBe(0)
  expect(readdirSync(join(place, 'usr/local/bin'))).toEqual(['steno'])
})

test('it puts a new build in its place and keeps the old one; what is no steno changes nothing', async () => {
  const place = emptyFolder('upgrade')
  const here = join(place, 'steno')
  copyFileSync(binary, here)
  const upgrade = (from: string) => Bun.spawnSync([here, 'upgrade', '--from', from], { cwd: place, env: {} })

  await Bun.write(join(place, 'text'), 'not a program')
  await Bun.write(join(place, 'script'), '#!/bin/sh\necho hello\n')
  const before = statSync(here).ino
  for (const name of ['text', 'script', 'nothing']) expect([name, upgrade(name).exitCode]).toEqual([name, 1])
  expect([statSync(here).ino, readdirSync(place).toSorted()]).toEqual([before, ['script', 'steno', 'text']])

  const done = upgrade(binary)
  expect([done.exitCode, done.stderr.toString()]).toEqual([0, ''])
  expect(statSync(join(place, 'steno.old')).ino).toBe(before)
  expect(statSync(here).ino).not.toBe(before)
  expect(readdirSync(place).toSorted()).toEqual(['script', 'steno', 'steno.old', 'text'])
  const runs = Bun.spawnSync([here, 'version'], { env: {} })
  expect(runs.exitCode).toBe(0)
})

test('it knows its licences by heart', () => {
  const place = emptyFolder('licenses')
  const { exitCode, stdout } = Bun.spawnSync([binary, 'licenses'], { cwd: place, env: {} })
  expect([exitCode, stdout.toString().trimEnd()]).toEqual([0, noticesOf(root)])
  expect(readdirSync(place)).toEqual([])
})

test('it serves, hears an upload and writes subtitles', async () => {
  const place = emptyFolder('serve')
  const server = Bun.spawn([binary, 'serve', '--port', '0', '--data-dir', join(place, 'data')], {
    cwd: place,
    env: { STENO_MODEL: 'pocket', STENO_LOG: 'json' },
    stdout: 'pipe',
    stderr: 'ignore',
  })
  try {
    let text = ''
    for await (const chunk of server.stdout) {
      text += new TextDecoder().decode(chunk)
      if (text.includes('sk_live_') && text.endsWith('\n')) break
    }
    const [, url = ''] = /listens on (\S+)/.exec(text) ?? []
    const [, key = ''] = /(sk_live_\S+)/.exec(text) ?? []
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(url + path, { ...init, headers: { Authorization: key, 'Content-Type': 'application/json' } })
    const json = async (path: string, init: RequestInit = {}) =>
      (await (await ask(path, init)).json()) as Record<string, string>
    const upload = await json('/v1/upload', { method: 'POST', body: '{"filename": "a.flac"}' })
    const put = { method: 'PUT', headers: { 'Content-Type': 'audio/flac' }, body: Bun.file(clip) }
    expect((await fetch(upload.upload_url!, put)).status).toBe(200)
    const body = JSON.stringify({ upload_id: upload.upload_id })
    const { id } = await json('/v1/transcribe', { method: 'POST', body })
    let job = await json(`/v1/transcribe/${id}`)
    while (!['completed', 'failed'].includes(job.status!)) {
      await Bun.sleep(50)
      job = await json(`/v1/transcribe/${id}`)
    }
    expect(job).toMatchObject({ status: 'completed', audio_duration_seconds: 4 })
    const srt = await (await ask(`/v1/transcribe/${id}?format=srt&max_words=50`)).text()
    expect(srt).toMatch(
      /^1\n00:00:00,\d{3} --> 00:00:0\d,\d{3}\nIf it is cloudy this evening, we will stay at home\.\n$/,
    )
    expect(readdirSync(place)).toEqual(['data'])
  } finally {
    server.kill('SIGTERM')
    expect(await server.exited).toBe(0)
  }
}, 60_000)

function emptyFolder(name: string): string {
  const place = join(folder, name)
  mkdirSync(place)
  return place
}
