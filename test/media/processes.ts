// Finds the child processes of a process in /proc, and checks whether a process is running.

import { existsSync, readdirSync, readFileSync } from 'node:fs'

/**
 * Returns the process ids of the children of a process. The kernel lists the children of each thread. If a thread ends
 * before its list is read, another thread gets its children, so all lists are read again.
 */
export function childrenOf(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`)
  try {
    return threads.flatMap(thread =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
        .split(' ')
        .filter(child => child !== '')
        .map(Number),
    )
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ESRCH') return childrenOf(pid)
    throw error
  }
}

/**
 * Returns a function that lists the child processes that this process has started since this call, zombies too. Another
 * test file of this process may have left child processes that are still ending.
 */
export function watchChildren(): () => number[] {
  const earlier = new Set(childrenOf(process.pid))
  return () => childrenOf(process.pid).filter(child => !earlier.has(child))
}

export function isRunning(pid: number): boolean {
  // A process that has ended stays a zombie until another process reads its exit status. A zombie is not running.
  return existsSync(`/proc/${pid}`) && !/State:\s+Z/.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
}
