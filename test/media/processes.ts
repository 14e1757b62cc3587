// Lists child processes, as the system reports them.

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
  // A dead orphan may remain a zombie for a while, until another process reaps it.
  return existsSync(`/proc/${pid}`) && !/State:\s+Z/.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
}
