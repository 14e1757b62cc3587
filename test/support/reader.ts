// Runs the commands in the documents, as a reader of the documents does. One server serves all documents, and each
// document has its own folder and shell. Earlier commands give placeholders such as UPLOAD_ID their values.

import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compactPocket } from './compact-pocket.ts'
import { clips, pocket } from './engine-room.ts'
import { shareUnpacked, testedProgram } from './server.ts'
import { openShell, type Shell } from './shell.ts'

/** The path of a FLAC file of four seconds: “If it is cloudy this evening, we will stay at home.” */
export const recording = join(clips ?? '', 'doctor.flac')

/** The path of a FLAC file with a conversation of two voices in four sentences. */
export const conversation = join(clips ?? '', 'en-two-voices.flac')

/**
 * The running server that the commands in the project's Markdown documents use. `folder` contains the files of the
 * server and of the commands. `model` is the folder of the speech model.
 */
export type Home = { url: string; key: string; folder: string; model: string; close(): Promise<number> }

/**
 * Starts the server that the commands in the project's Markdown documents use. `close` stops the server and returns its
 * exit code.
 */
export async function startHome(folder: string): Promise<Home> {
  const [log, bin] = [join(folder, 'log'), join(folder, 'bin')]
  // The built program unpacks its embedded files. The server unpacks them into `data`. Commands in the documents do the
  // same, or unpack them into `cache` if they find no data folder. Both folders get a link to one folder for all tests,
  // so the files are unpacked only once.
  for (const place of [bin, join(folder, 'data'), join(folder, 'cache')]) mkdirSync(place)
  if (testedProgram().length === 1)
    for (const place of ['data', 'cache']) shareUnpacked(testedProgram()[0]!, join(folder, place))
  const call = testedProgram()
    .map(word => `'${word}'`)
    .join(' ')
  writeFileSync(join(bin, 'steno'), `#!/bin/sh\nexec ${call} "$@"\n`, { mode: 0o755 })
  // Commands in the documents read the log by journalctl, but this server does not run under systemd. The script prints
  // the server's log file instead.
  writeFileSync(join(bin, 'journalctl'), `#!/bin/sh\nexec cat '${log}'\n`, { mode: 0o755 })
  const model = await compactPocket(pocket ?? '')
  const server = Bun.spawn([...testedProgram(), 'serve', '--port', '0', '--data-dir', 'data'], {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? '',
      STENO_MODEL: model,
      STENO_RATE_LIMITS: 'off',
      STENO_ALLOW_NETS: '127.0.0.0/8',
      STENO_LOG: 'json',
    },
    stdout: 'pipe',
    stderr: Bun.file(log),
  })
  let told = ''
  for await (const chunk of server.stdout) {
    told += new TextDecoder().decode(chunk)
    if (told.includes('sk_live_') && told.endsWith('\n')) break
  }
  const [, url = ''] = /listens on (\S+)/.exec(told) ?? []
  const [key = ''] = /sk_live_[\w-]+/.exec(told) ?? []
  return {
    url,
    key,
    folder,
    model,
    close() {
      server.kill('SIGTERM')
      return server.exited
    },
  }
}

export type Reader = {
  folder: string
  /** The known values of the placeholders in the document's commands, such as UPLOAD_ID, by name. */
  known: Record<string, string>
  /** The output of the last command that was run. */
  last: string
  /** Sends a request with the API key. Returns the JSON of the response. */
  ask(path: string, body?: object): Promise<Record<string, string>>
  /**
   * Creates a job for `talk.mp3` with additional request `fields`, and waits for its completion. The job's id replaces
   * the placeholder ID in later commands.
   */
  transcribe(fields?: object): Promise<void>
  /**
   * Runs a shell command, such as one from the document that `openReader` got. Throws if the command fails, or if the
   * server returns an error.
   */
  run(command: string): Promise<string>
  close(): Promise<void>
}

/**
 * Prepares the folder and the shell for the commands of a document. In each command, the keys of `replaced` are
 * replaced by their values.
 */
export function openReader(home: Home, document: string, replaced: Record<string, string>): Reader {
  const folder = join(home.folder, document.replaceAll('/', '-'))
  const own = join(home.folder, `${document.replaceAll('/', '-')}.shell`)
  for (const place of [folder, own]) mkdirSync(place)
  copyFileSync(recording, join(folder, 'talk.mp3'))
  const shell: Shell = openShell(folder, own, {
    PATH: `${join(home.folder, 'bin')}:${process.env.PATH}`,
    HOME: folder,
    KEY: home.key,
    DATA: join(home.folder, 'data'),
    EMPTY: join(folder, 'empty'),
    STENO_DATA_DIR: join(home.folder, 'data'),
    STENO_MODEL: home.model,
    STENO_CACHE_DIR: join(home.folder, 'cache'),
    STENO_DISK_RESERVE: '1MB',
    STENO_MAX_FILE_SIZE: '1MB',
  })
  const texts: Record<string, string> = {
    'http://localhost:8080': home.url,
    'localhost:8080': new URL(home.url).host,
    'sk_live_…': home.key,
    ...replaced,
  }
  const fill = (command: string, known: Record<string, string>) => {
    const plain = Object.entries(texts).reduce((text, [name, value]) => text.replaceAll(name, value), command)
    return plain.replace(/(?<![$\w])[A-Z]+(?:_[A-Z]+)?\b(?!=)/g, name => known[name] ?? name)
  }
  const reader: Reader = {
    folder,
    known: { OFFSET: '0' },
    last: '',
    async ask(path, body) {
      const headers = { Authorization: `Bearer ${home.key}`, 'Content-Type': 'application/json' }
      const init = body ? { method: 'POST', body: JSON.stringify(body) } : {}
      return (await fetch(`${home.url}${path}`, { ...init, headers })).json() as Promise<
        Record<string, string>
      >
    },
    async transcribe(fields = {}) {
      await upload(reader)
      const { id = '' } = await reader.ask('/v1/transcribe', {
        upload_id: reader.known.UPLOAD_ID,
        diarize: true,
        ...fields,
      })
      delete reader.known.UPLOAD_ID
      reader.known.ID = id
      await untilEnd(reader)
    },
    async run(command) {
      await provide(reader, command)
      const exported = Object.entries(reader.known).map(([name, value]) => `export ${name}='${value}'\n`)
      const { status, out, err } = await shell.run(`${exported.join('')}${fill(command, reader.known)}\n`)
      if (status !== 0) throw new Error(`${command}\nended with ${status}: ${err}`)
      reader.last = out
      learn(reader, command)
      return out
    },
    close: shell.close,
  }
  return reader
}

async function upload({ ask, folder, known }: Reader): Promise<void> {
  const { upload_url = '', upload_id = '' } = await ask('/v1/upload', { filename: 'talk.mp3' })
  const headers = { 'Content-Type': 'audio/mpeg' }
  await fetch(upload_url, { method: 'PUT', headers, body: Bun.file(join(folder, 'talk.mp3')) })
  known.UPLOAD_ID = upload_id
}

async function untilEnd({ ask, known }: Reader): Promise<void> {
  for (;;) {
    const { status, error } = await ask(`/v1/transcribe/${known.ID}?wait=60`)
    if (status === 'completed') return
    if (status === 'failed' || error) throw new Error(JSON.stringify(error))
  }
}

/**
 * Prepares a command of a tested document. For the placeholder UPLOAD_ID or ID, creates an upload or a transcript,
 * unless an earlier command has created one. A command with the header `If-Match` always gets a new transcript, because
 * earlier commands may have edited the old one.
 */
async function provide(reader: Reader, command: string): Promise<void> {
  const { known } = reader
  if (/\bUPLOAD_ID\b/.test(command) && known.UPLOAD_ID === undefined) await upload(reader)
  // `If-Match: "0"` means a transcript without edits. Earlier commands may have edited the transcript, so a new job is
  // made.
  if (command.includes('If-Match')) await reader.transcribe()
  if (/\bID\b/.test(command)) await (known.ID === undefined ? reader.transcribe() : untilEnd(reader))
}

/**
 * Stores in `known` the values of placeholders, such as UPLOAD_ID, from the output of the last command. Throws if the
 * output is an error of the server.
 */
function learn({ known, last }: Reader, command: string): void {
  const [, status, uploadId] = /^HTTP\S+ (\d+)(?:[\s\S]*?^upload-id: (\S+))?/im.exec(last) ?? []
  if (Number(status ?? 200) >= 400) throw new Error(`${command}\nwas answered ${last}`)
  if (uploadId !== undefined) known.UPLOAD_ID = uploadId
  if (!last.startsWith('{')) return
  const answer = JSON.parse(last)
  if (answer.error) throw new Error(`${command}\nwas answered ${last}`)
  for (const name of ['upload_url', 'upload_id', 'client_id', 'access_token', 'refresh_token'])
    if (typeof answer[name] === 'string') known[name.toUpperCase()] = answer[name]
  if (command.includes('/webhooks/deliveries ')) known.DELIVERY_ID = answer.items[0].id
  if (!command.includes('/v1/transcribe ')) return
  known.ID = answer.id
  delete known.UPLOAD_ID
}
