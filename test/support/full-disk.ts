// Runs code as on a full disk.

import { expect } from 'bun:test'

/**
 * Runs the code `script` in a child process in which a file can have at most `kilobytes`. Returns its output. With the
 * trap, a larger write fails with an error (EFBIG), similar to that of a full disk (ENOSPC). Without it, SIGXFSZ ends
 * the process.
 */
export async function runOnFullDisk(kilobytes: number, script: string): Promise<string> {
  const limit = `trap '' XFSZ; ulimit -f ${kilobytes}; exec "$0" -e "$1"`
  const child = Bun.spawn(['bash', '-c', limit, process.execPath, script], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const output = await child.stdout.text()
  expect(await child.exited).toBe(0)
  return output
}
