// Runs steno in a process of its own. The process gets only PATH and HOME of the tests' environment.

import { selfCommand } from '../../src/base/self.ts'

export type Ended = { code: number; out: string; err: string }

export async function steno(args: string[], environment: Record<string, string> = {}): Promise<Ended> {
  const { PATH = '', HOME = '' } = process.env
  const child = Bun.spawn(selfCommand(...args), {
    env: { PATH, HOME, ...environment },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, out, err }
}
