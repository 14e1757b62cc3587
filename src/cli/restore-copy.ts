// The child process that restores a database copy from a folder that two servers share (see restore-child.ts).

import { mkdirSync } from 'node:fs'
import { dieWithParent } from '../base/parent.ts'
import { reasonOf } from '../base/reason.ts'
import { filesOf, placeCopy, problemOf } from '../db/copy.ts'
import { terminal } from './terminal.ts'

/**
 * The entry point of the child process. If the copy is not intact, prints the reason to stdout. If the restore fails,
 * prints the reason to stderr and exits with 1.
 */
export async function restoreCopy(): Promise<void> {
  const [parent = '', file = '', folder = ''] = process.argv.slice(3)
  dieWithParent(Number(parent))
  try {
    const problem = problemOf(file)
    if (problem !== null) {
      terminal.out(problem)
      return
    }
    mkdirSync(folder, { mode: 0o700 })
    placeCopy(filesOf(file, folder), folder)
  } catch (error) {
    terminal.err(reasonOf(error))
    process.exitCode = 1
  }
}
