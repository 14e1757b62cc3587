// Finds the child processes of a process, and checks whether a process is running. Reads /proc.

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
  // A killed orphan may stay a zombie process until another process reaps it. A zombie process does not run.
  return existsSync(`/proc/${pid}`) && !/State:\s+Z/.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
}
