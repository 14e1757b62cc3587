// Runs a script of this folder as a child process. Returns the last line of its output, parsed as JSON.

import { join } from 'node:path'

export async function ask<Answer>(script: string, order: object): Promise<Answer> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, script), JSON.stringify(order)], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(`${script}: ${err.trim().split('\n').at(-1)}`)
  return JSON.parse(out.trim().split('\n').at(-1)!) as Answer
}
