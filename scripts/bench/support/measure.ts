// Runs a command and measures its process tree: the CPU time, the wall time, and the peak memory. The peak memory is
// the highest sum of the resident memory of all processes.

import { readdirSync, readFileSync } from 'node:fs'

export type Spent = { cpuMs: number; wallMs: number; peakBytes: number }

const pageBytes = 4096
const sampledEveryMs = 100

export async function measure(
  command: string[],
  env: Record<string, string> = {},
): Promise<Spent & { out: string }> {
  const before = performance.now()
  const child = Bun.spawn(command, {
    env: { ...process.env, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let peakBytes = 0
  const sampler = setInterval(() => {
    peakBytes = Math.max(peakBytes, treeBytes(child.pid))
  }, sampledEveryMs)
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  const status = await child.exited
  clearInterval(sampler)
  if (status !== 0) throw new Error(`${command[0]} failed: ${err.trim().split('\n').at(-1)}`)
  // `resourceUsage` of a child process includes the CPU time of the processes that this child started.
  const usage = child.resourceUsage()
  if (!usage) throw new Error(`${command[0]} has no resource usage`)
  return { cpuMs: Number(usage.cpuTime.total) / 1000, wallMs: performance.now() - before, peakBytes, out }
}

/**
 * Returns the resident memory of a process and its descendants, in bytes. An ended process counts as 0. `parent` is the
 * command line of the parent process. A process with the same command line also counts as 0: it was just forked and
 * shares the memory of its parent.
 */
function treeBytes(pid: number, parent = ''): number {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    if (command === parent) return 0
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1])
    const threads = readdirSync(`/proc/${pid}/task`)
    const children = threads.flatMap(thread =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
    )
    return children.reduce((sum, child) => sum + treeBytes(Number(child), command), pages * pageBytes)
  } catch {
    return 0
  }
}

export function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
