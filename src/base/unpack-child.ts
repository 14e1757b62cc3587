// Unpacks the embedded files of the program in a child process. Unpacking takes a second and much memory, which is free
// again when the child process ends.

import { spawnChild } from './spawn-child.ts'

let running: Promise<void> | null = null

/**
 * Runs `command`, which unpacks the files, and waits for its end. A call during another run waits for that run. If the
 * command fails, rejects with the message that the command wrote to stderr.
 */
export function unpackInChild(command: string[], env: NodeJS.ProcessEnv): Promise<void> {
  running ??= run(command, env).finally(() => {
    running = null
  })
  return running
}

async function run(command: string[], env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawnChild(command, { env, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  const message = (await child.stderr.text()).trim()
  if ((await child.exited) === 0) return
  throw new Error(message || `unpacking ended early (${child.signalCode ?? child.exitCode})`)
}
