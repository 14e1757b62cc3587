// Finds the child processes of a process in /proc, and checks whether a process is running.

import { existsSync, readdirSync, readFileSync } from 'node:fs'

export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap(task =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8')
      .split(' ')
      .filter(child => child !== '')
      .map(Number),
  )
}

export function isRunning(pid: number): boolean {
  // A process that has ended stays a zombie until another process reads its exit status. A zombie is not running.
  return existsSync(`/proc/${pid}`) && !/State:\s+Z/.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
}
