// Reads the Markdown documents of the project, their code blocks, and the commands in these blocks.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from './project-root.ts'

/** The paths of the documents that the tests check, relative to the root of the project. */
export const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'native/README.md',
  ...readdirSync(join(projectRoot, 'docs'))
    .filter(name => name.endsWith('.md'))
    .toSorted()
    .map(name => `docs/${name}`),
]

export function readDocument(path: string): string {
  return readFileSync(join(projectRoot, path), 'utf8')
}

/** Returns the fenced and the indented code blocks of a Markdown text, in their order. */
export function blocksOf(markdown: string): string[] {
  const forms = /^```\w*\n([\s\S]*?)^```$|((?:^ {4}.*\n|^\n(?= {4}))+)/gm
  return [...markdown.matchAll(forms)].map(([, fenced, indented = '']) =>
    (fenced ?? indented.replace(/^ {4}/gm, '')).trim(),
  )
}

/**
 * A bash program that reads a block of shell code, and writes each command with a zero byte at its end. The program
 * adds lines to a command until bash can parse the command. To parse a command without running the command, the program
 * lets `eval` define a function whose body is the command. `eval` fails if the command is incomplete.
 */
const splitInBash = String.raw`
open=
while IFS= read -r line; do
  [[ -z $open && $line =~ ^[[:space:]]*(#.*)?$ ]] && continue
  open+=$line$'\n'
  [[ $line == *'\' ]] && continue
  eval "parsed() {"$'\n'"$open}" 2>/dev/null || continue
  printf '%s\0' "$open"
  open=
done
printf %s "$open"
`

/**
 * Returns the commands of a block of shell code. A command may have several lines. Comment lines between commands are
 * left out.
 */
export function commandsOf(block: string): string[] {
  const { stdout } = Bun.spawnSync(['bash', '-c', splitInBash], { stdin: Buffer.from(`${block}\n`) })
  const commands = stdout.toString().split('\0')
  const open = commands.pop()
  if (open !== '') throw new Error(`bash does not accept: ${open}`)
  return commands.map(command => command.trimEnd())
}

/**
 * Returns the steno commands in the code of a Markdown text. A command begins with `steno` or `./steno`. `words` has
 * the next word, and also the word after it if that has only lowercase letters, for example `keys` and `create`.
 * `options` has the long options of the command, without `--`.
 */
export function callsOf(markdown: string): { words: string[]; options: string[] }[] {
  const spans = [...markdown.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span)
  return [...spans, ...blocksOf(markdown).flatMap(block => block.replaceAll('\\\n', ' ').split('\n'))]
    .flatMap(text => [...text.matchAll(/(?:^|[|&] *|\s)(?:\.\/)?steno ([a-z][^|#&;]*)/g)])
    .filter(([, call = '']) => /^[a-z]+(\s|$)/.test(call))
    .map(([, call = '']) => ({
      words: (/^[a-z]+(?: [a-z]+(?=\s|$))?/.exec(call)?.[0] ?? '').split(' '),
      options: [...call.matchAll(/\s--([a-z][\w-]*)/g)].map(([, option = '']) => option),
    }))
}

/** Returns the paths of all fields in a JSON value. In an array, only the first item is read. */
export function fieldsOf(value: unknown): string[] {
  if (Array.isArray(value)) return fieldsOf(value[0]).map(path => `[].${path}`)
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value)
    .flatMap(([name, inner]) => [name, ...fieldsOf(inner).map(path => `${name}.${path}`)])
    .toSorted()
}

/** Returns the settings in a block with lines such as STENO_PORT=9090. */
export function settingsOf(block: string): Record<string, string> {
  return Object.fromEntries(block.split('\n').map(line => line.split(/=(.*)/).slice(0, 2)))
}
