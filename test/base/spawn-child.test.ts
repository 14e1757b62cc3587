import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { spawnChild } from '../../src/base/spawn-child.ts'

/**
 * Returns the signals that a process blocks, as a hexadecimal bit mask. `status` is the text of its /proc/PID/status.
 */
function blockedIn(status: string): string | undefined {
  return /^SigBlk:\t0*([0-9a-f]+)$/m.exec(status)?.[1]
}

const blocked = () => blockedIn(readFileSync('/proc/thread-self/status', 'utf8'))

test.skipIf(process.platform !== 'linux')(
  'a child process blocks SIGHUP and SIGINT, and this process blocks no further signals',
  async () => {
    const before = blocked()
    const child = spawnChild(['cat', '/proc/self/status'], { stdout: 'pipe' })
    expect(blocked()).toBe(before)
    expect(blockedIn(await child.stdout.text())).toBe('3')
    expect(() => spawnChild(['/no/such/program'], {})).toThrow('ENOENT')
    expect(blocked()).toBe(before)
  },
)
