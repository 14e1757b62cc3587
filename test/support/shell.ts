// A bash process that runs one command after the other. Each command sees the variables of earlier commands.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type Shell = {
  run(command: string): Promise<{ status: number; out: string; err: string }>
  close(): Promise<void>
}

/** Starts bash in a folder. `own` is an empty folder for temporary files of the shell. */
export function openShell(folder: string, own: string, environment: Record<string, string>): Shell {
  const child = Bun.spawn(['bash', '-uo', 'pipefail'], {
    cwd: folder,
    env: environment,
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const lines = linesOf(child.stdout)
  const [command, out, err] = ['command', 'out', 'err'].map(name => join(own, name)) as [
    string,
    string,
    string,
  ]
  return {
    async run(text) {
      writeFileSync(command, text)
      child.stdin.write(`. '${command}' </dev/null >'${out}' 2>'${err}'; echo $?\n`)
      await child.stdin.flush()
      const { value, done } = await lines.next()
      if (done) throw new Error(`bash ended in: ${text}\n${readFileSync(err, 'utf8')}`)
      return { status: Number(value), out: readFileSync(out, 'utf8'), err: readFileSync(err, 'utf8') }
    },
    async close() {
      child.stdin.end()
      await child.exited
    },
  }
}

/** Yields each line of a stream as soon as it is complete. An incomplete last line is left out. */
export async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let open = ''
  for await (const chunk of stream) {
    const lines = (open + decoder.decode(chunk, { stream: true })).split('\n')
    open = lines.pop() ?? ''
    yield* lines
  }
}
