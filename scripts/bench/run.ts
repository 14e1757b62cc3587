// Runs every benchmark beside this file and prints its table: `bun scripts/bench/run.ts [name …] [--json FILE]`.

import { cpus, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { formatSize } from '../../src/base/words.ts'

/** The first row is the head of the table. */
export type Bench = { name: string; run: () => Promise<string[][]> }

const { values, positionals } = parseArgs({ allowPositionals: true, options: { json: { type: 'string' } } })
const files = [...new Bun.Glob('*.ts').scanSync(import.meta.dir)].filter(file => file !== 'run.ts').toSorted()
const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${formatSize(totalmem())}, Bun ${Bun.version}`
console.log(`${machine}\n`)

const results: Record<string, string[][]> = {}
for (const file of files) {
  const { bench } = (await import(`./${file}`)) as { bench: Bench }
  if (positionals.length > 0 && !positionals.includes(file.replace('.ts', ''))) continue
  console.log(`## ${bench.name}\n`)
  try {
    const table = await bench.run()
    results[bench.name] = table
    console.log(`${shown(table)}\n`)
  } catch (error) {
    process.exitCode = 1
    console.log(`failed: ${error instanceof Error ? error.message : error}\n`)
  }
}
if (values.json) await Bun.write(values.json, JSON.stringify({ machine, results }, null, 2))

function shown(table: string[][]): string {
  const widths = table[0]!.map((_, column) => Math.max(...table.map(row => (row[column] ?? '').length)))
  const lines = table.map(
    row => `| ${widths.map((width, at) => (row[at] ?? '').padEnd(width)).join(' | ')} |`,
  )
  return lines.toSpliced(1, 0, `|${widths.map(width => '-'.repeat(width + 2)).join('|')}|`).join('\n')
}
