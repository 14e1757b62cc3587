// The lease files in a folder that several servers share. Each server has its own database. Only the server that holds
// the newest lease may write, so that no two servers change their databases at the same time (see lease.ts). Each lease
// has a file of its own. The name of the file contains the number of the lease, called its generation.

import { readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { draftPath } from '../base/draft-names.ts'
import { reasonOf } from '../base/reason.ts'
import { placeFile } from '../base/whole-file.ts'

export type Content = {
  /** The name of the server with this lease. Null until the server has confirmed that its database is the latest. */
  holder: string | null
  /** Each renewal increases this number, so that other servers see that the holder is alive. */
  beat: number
  isReleased: boolean
  /**
   * The last server that was `holder` in an earlier lease: it had the latest database when this lease began. Null if
   * there was no such server. Undefined if that is not known, because an older program wrote this lease or an earlier
   * one, or because the file is incomplete.
   */
  lastHolder?: string | null | undefined
}

export const unnamed: Content = { holder: null, beat: 0, isReleased: false }

export function pathOf(folder: string, generation: number): string {
  return join(folder, `lease-${`${generation}`.padStart(8, '0')}`)
}

/**
 * Returns the highest generation (the number in the file name) of the lease files in the folder. Returns 0 if the
 * folder has no lease file.
 */
export async function findGeneration(folder: string): Promise<number> {
  return highestGeneration(await readdir(folder))
}

/**
 * Returns the highest generation of the lease files with these names, such as 7 for `lease-00000007`. Returns 0 if no
 * lease file is among them.
 */
export function highestGeneration(names: readonly string[]): number {
  return Math.max(0, ...names.map(name => Number(/^lease-(\d+)$/.exec(name)?.[1] ?? 0)))
}

/** Parses the content of a lease file. Returns `unnamed` for an incompletely written file. */
export function contentOf(text: string): Content {
  return text.endsWith('}') ? (JSON.parse(text) as Content) : unnamed
}

/** Creates a file with its whole content. Fails if the file exists. */
export async function createFile(path: string, text: string): Promise<void> {
  await writeDraft(path, text, draft => placeFile(draft, path))
}

export async function replaceFile(path: string, text: string): Promise<void> {
  await writeDraft(path, text, draft => rename(draft, path))
}

/**
 * Writes `text` to a draft (a temporary file) beside `path`, and then calls `move`, which gives the draft its final
 * name. Removes the draft after an error, such as a full disk.
 */
async function writeDraft(path: string, text: string, move: (draft: string) => unknown): Promise<void> {
  const draft = draftPath(path)
  try {
    await writeFile(draft, text, { mode: 0o600 }).catch(error => {
      // The error of a full disk does not name the file, so the path is added.
      throw new Error(`${path} cannot be written: ${reasonOf(error)}`)
    })
    await move(draft)
  } finally {
    await rm(draft, { force: true })
  }
}
