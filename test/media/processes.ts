// Child processes, as the system lists them.

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
  // An orphan that is dead may wait a while for whoever collects orphans here.
  return existsSync(`/proc/${pid}`) && !/State:\s+Z/.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
}
