// Runs the example programs of the documents: a process runs several programs one after the other. The start of Python
// and the import of its HTTP client take 0.15 s of CPU time, and the start of Bun takes 0.04 s. A process of its own
// for each program would take this time again and again.

import { afterAll } from 'bun:test'
import { linesOf } from './shell.ts'

/** Runs a program. Returns what it prints (in TypeScript, by `console.log`), and its error if it fails. */
export type RunExample = (program: string) => Promise<string>

// Both loops read one line for each program: its text as a JSON string. They print one line, which is the output of the
// program as a JSON string. Each program has variables of its own. A module that one program has imported stays loaded
// for the next ones.
const inPython = `
import contextlib, io, json, sys, traceback

for line in sys.stdin:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            exec(json.loads(line), {})
        except BaseException:
            traceback.print_exc(file=out)
    print(json.dumps(out.getvalue()), flush=True)
`
const inTypeScript = `
let count = 0
for await (const line of console) {
  if (line === '') break
  let out = ''
  console.log = (...values) => { out += values.join(' ') + '\\n' }
  const path = process.cwd() + '/example-' + count++ + '.ts'
  await Bun.write(path, JSON.parse(line))
  try { await import(path) } catch (error) { out += error.stack }
  process.stdout.write(JSON.stringify(out) + '\\n')
}
`
const commands = {
  Python: ['python3', '-c', inPython],
  TypeScript: [process.execPath, '-e', inTypeScript],
}

/**
 * Starts a process that runs programs in `folder`. The process ends at the end of the calling test. The programs must
 * be run one after the other.
 */
export function startRunner(
  language: keyof typeof commands,
  { folder, env }: { folder: string; env: Record<string, string> },
): RunExample {
  const child = Bun.spawn(commands[language], { cwd: folder, env, stdin: 'pipe', stdout: 'pipe' })
  const lines = linesOf(child.stdout)
  afterAll(async () => {
    child.stdin.end()
    await child.exited
  })
  return async program => {
    child.stdin.write(`${JSON.stringify(program)}\n`)
    await child.stdin.flush()
    const { value, done } = await lines.next()
    if (done) throw new Error(`${language} ended in: ${program}`)
    return JSON.parse(value ?? '')
  }
}
