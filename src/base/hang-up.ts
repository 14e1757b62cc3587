// The signal SIGHUP, which a terminal sends when it is closed. A program that was started by nohup ignores it.

import { existsSync, readFileSync } from 'node:fs'
import { systemCall } from './system-call.ts'

/** Returns true if the process with the id `pid` ignores the signal SIGHUP. Returns false if /proc does not show it. */
export function isHangUpIgnored(pid: number): boolean {
  const path = `/proc/${pid}/status`
  const status = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const ignored = /^SigIgn:\t([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'
  // The bit 0 belongs to the signal 1, which is SIGHUP.
  return (BigInt(`0x${ignored}`) & 1n) === 1n
}

/**
 * Moves this child process into a process group of its own if its parent ignores SIGHUP. A closed terminal sends SIGHUP
 * to the group of the parent. Bun starts a child with the default action for each signal, so that signal would kill the
 * programs that this process starts.
 */
export function leaveTerminalAfterNohup(): void {
  if (isHangUpIgnored(process.ppid)) systemCall('setpgid', 0, 0)
}
