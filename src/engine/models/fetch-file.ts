// One file from somewhere onto the disk: goes on where an earlier try stopped, tries again while there is progress,
// and is in its place only when it is what it should be.

import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { open as openFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { limits } from '../../limits.ts'
import { SourceError, type Transfer } from '../../net/source.ts'

export type Wanted = {
  /** As messages name it. */
  name: string
  size: number
  /** Its bytes from an offset on. */
  open: (from: number) => Promise<Transfer>
  isGood: (path: string) => Promise<boolean>
  signal: AbortSignal
}

export async function fetchFile(
  path: string,
  wanted: Wanted,
  onBytes: (bytes: number) => void,
): Promise<void> {
  mkdirSync(dirname(path), { recursive: true })
  if (existsSync(path)) return onBytes(wanted.size)
  const part = `${path}.part`
  for (let tries = 1; ; ) {
    const before = sizeOf(part)
    try {
      await append(part, wanted, onBytes)
    } catch (error) {
      wanted.signal.throwIfAborted()
      if (!(error instanceof SourceError)) throw error
      tries = sizeOf(part) > before ? 1 : tries + 1
      if (tries > limits.pullTriesMax) throw error
      continue
    }
    if (await wanted.isGood(part)) return renameSync(part, path)
    rmSync(part)
    tries++
    if (tries > limits.pullTriesMax)
      throw new SourceError(`${wanted.name} does not have the hash that its source gives`)
  }
}

/** Adds to the part what is missing of it, and throws when it ends too soon. */
async function append(
  part: string,
  { name, size, open }: Wanted,
  onBytes: (bytes: number) => void,
): Promise<void> {
  let from = sizeOf(part)
  if (from > size) {
    rmSync(part)
    from = 0
  }
  if (from === size && from > 0) return
  const { body, resumed } = await open(from)
  if (!resumed && from > 0) {
    rmSync(part)
    from = 0
  }
  const file = await openFile(part, 'a')
  let written = from
  try {
    for await (const bytes of brokenOff(name, body)) {
      written += bytes.length
      if (written > size) throw new SourceError(`${name} is longer than its source says`)
      await file.appendFile(bytes)
      onBytes(written)
    }
  } finally {
    await file.close()
  }
  if (written < size) throw new SourceError(`the transfer of ${name} broke off`)
}

/** A sender that breaks off is asked again; a disk that takes no more is not. */
async function* brokenOff(name: string, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    throw error instanceof SourceError ? error : new SourceError(`the transfer of ${name} broke off`)
  }
}

export function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0
}
