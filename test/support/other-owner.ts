// Folders of another user, for tests of commands that root runs. Only root can make these folders.

import { test } from 'bun:test'
import { chownSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './folder.ts'

export const otherUser = 65_534
const isRoot = process.getuid?.() === 0

/** Creates an empty temporary folder that belongs to `otherUser`. */
export function foreignFolder(): string {
  const folder = temporaryFolder()
  chownSync(folder, otherUser, otherUser)
  return folder
}

/** Declares a test of a command that root runs. The test is skipped if the tests do not run as root. */
export function byRoot(title: string, run: Parameters<typeof test>[1]): void {
  test.skipIf(!isRoot)(
    `${title}${isRoot ? '' : ' (SKIPPED: only root can write into the folder of another user)'}`,
    run,
  )
}

/** Returns the names of the files and folders in `folder`, at any depth, whose owner is not `otherUser`. */
export function notGiven(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true }) as string[]
  return names.filter(name => lstatSync(join(folder, name)).uid !== otherUser).sort()
}
