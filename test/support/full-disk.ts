// Runs code as on a full disk.

import { expect } from 'bun:test'

/**
 * Runs the code `script` in a child process in which no file can have more than `kilobytes`, and returns its output. On
 * a write above the limit of `ulimit`, the signal SIGXFSZ would end the process. With the trap, the write fails with an
 * error (EFBIG), similar to a write on a full disk (ENOSPC).
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
