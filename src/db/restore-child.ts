// Restores a copy of the database in a child process. Checking and copying a large database takes seconds or minutes.
// The server renews its lease during this time. If it waited as the second one of a pair, it also sends heartbeats to
// systemd.

import { selfCommand } from '../base/self.ts'
import { spawnChild } from '../base/spawn-child.ts'

/**
 * Checks a copy of the database, and restores it into `folder`, which must not exist. Returns the reason if the copy is
 * not intact. Returns null if the copy is restored. Throws if it cannot be restored, for example because the disk is
 * full.
 */
export async function restoreInChild(file: string, folder: string): Promise<string | null> {
  const command = selfCommand('restore-copy', `${process.pid}`, file, folder)
  const child = spawnChild(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [problem, message] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(`${file} was not restored: ${message.trim()}`)
  return problem === '' ? null : problem
}
