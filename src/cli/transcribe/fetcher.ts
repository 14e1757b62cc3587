// Makes each source available as a file: copies standard input and named pipes, and downloads from web addresses. The
// copies are in a temporary folder, which is removed on `close`, or when the process exits.

import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { access, constants, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { diskRefusalOf } from '../../base/disk-refusal.ts'
import { formatSize } from '../../base/units.ts'
import type { Config } from '../../config.ts'
import { download } from '../../net/download.ts'
import { parseNets } from '../../net/nets.ts'
import { causeOf } from '../unwritable.ts'
import type { Screen } from './screen.ts'
import type { Source } from './source.ts'

export type Fetcher = {
  /** Makes the source available as a local file and returns its path. Throws if the file is empty. */
  bring(source: Source, screen: Screen): Promise<string>
  close(): void
}

/** Downloads from all networks are allowed, because the user could reach them with other programs too. */
const everywhere = parseNets('0.0.0.0/0,::/0')!

export function openFetcher({ fileBytesMax }: Pick<Config, 'fileBytesMax'>, signal: AbortSignal): Fetcher {
  let folder: string | null = null
  let copy: string | null = null

  function nextCopy(): string {
    folder ??= makeFolder()
    if (copy !== null) rmSync(copy, { force: true })
    copy = join(folder, crypto.randomUUID())
    return copy
  }

  function remove(): void {
    if (folder !== null) rmSync(folder, { recursive: true, force: true })
  }
  process.on('exit', remove)

  async function fileOf({ kind, place }: Source, screen: Screen): Promise<string> {
    if (kind === 'file') {
      await access(place, constants.R_OK).catch(() => {
        throw new Error('permission denied')
      })
      return place
    }
    const path = nextCopy()
    screen.status(kind === 'pipe' ? 'reading the input' : 'downloading')
    if (kind === 'pipe') await copyPipe(place, path, signal)
    else {
      const onProgress = (bytes: number, total: number | null) =>
        screen.status(`downloading ${formatSize(bytes)}${total === null ? '' : ` of ${formatSize(total)}`}`)
      const options = { allowNets: everywhere, bytesMax: fileBytesMax, signal, onProgress }
      await download(place, path, options).catch(error => {
        throw diskRefusalOf(error) === null ? error : cannotCopy(error)
      })
    }
    return path
  }

  return {
    async bring(source, screen) {
      const path = await fileOf(source, screen)
      const { size } = await stat(path)
      if (size === 0) throw new Error(`the ${source.kind === 'pipe' ? 'input' : 'file'} is empty`)
      return path
    },
    close() {
      process.off('exit', remove)
      remove()
    },
  }
}

function makeFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'steno-'))
  } catch (error) {
    throw cannotCopy(error)
  }
}

function cannotCopy(error: unknown): Error {
  return new Error(
    `the temporary folder ${tmpdir()} cannot be written: ${causeOf(error)}; TMPDIR names another`,
  )
}

async function copyPipe(place: string, path: string, signal: AbortSignal): Promise<void> {
  const source = place === '-' ? Bun.stdin.stream() : Bun.file(place).stream()
  const reader = source.getReader()
  const target = createWriteStream(path, { flags: 'wx', mode: 0o600 })
  const failed = Promise.withResolvers<never>()
  target.once('error', error => failed.reject(cannotCopy(error)))
  const stop = () => failed.reject(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), failed.promise])
      if (done) break
      if (!target.write(value))
        await Promise.race([new Promise(resolve => target.once('drain', resolve)), failed.promise])
    }
    await Promise.race([new Promise<void>(resolve => target.end(resolve)), failed.promise])
  } finally {
    signal.removeEventListener('abort', stop)
    target.destroy()
    void reader.cancel().catch(() => {})
  }
}
