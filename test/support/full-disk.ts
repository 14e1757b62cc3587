// Runs code as on a full disk.

import { expect } from 'bun:test'

/**
 * Runs the code `script` in a child process in which a file can have at most `kilobytes`. Returns its output. A larger
 * write fails with the error EFBIG, which is similar to the error of a full disk (ENOSPC). The command `trap` makes the
 * process ignore the signal SIGXFSZ, which would end the process at such a write.
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
