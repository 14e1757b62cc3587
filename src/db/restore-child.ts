// Restores a copy of the database in a child process. For a large database this takes seconds or minutes. In the
// server's own process, it would block the event loop, and the server could not renew its lease: its right to write to
// its database.

import { selfCommand } from '../base/self.ts'
import { spawnChild } from '../base/spawn-child.ts'

/**
 * Checks a copy of the database, and restores it into `folder`, which must not exist. Returns null if the copy is
 * restored, or the reason why the copy is not intact. Throws if another error occurs, such as a full disk.
 */
export async function restoreInChild(file: string, folder: string): Promise<string | null> {
  const command = selfCommand('restore-copy', `${process.pid}`, file, folder)
  const child = spawnChild(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [problem, message] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(`${file} was not restored: ${message.trim()}`)
  return problem === '' ? null : problem
}
