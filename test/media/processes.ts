// Finds child processes in /proc, and checks whether a process is running.

import { existsSync, readdirSync, readFileSync } from 'node:fs'

/**
 * Returns the process ids of the children of a process. The kernel lists the children of each thread. If a thread ends
 * during the read, another thread gets its children, and all threads are read again.
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

/** Returns a function that lists the child processes that this process has started since the call, zombies too. */
export function watchChildren(): () => number[] {
  const earlier = new Set(childrenOf(process.pid))
  return () => childrenOf(process.pid).filter(child => !earlier.has(child))
}

export function isRunning(pid: number): boolean {
  // A process that has ended stays a zombie until its parent reads its exit status.
  return existsSync(`/proc/${pid}`) && !/State:\s+Z/.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
}
