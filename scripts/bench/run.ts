// Runs the named benchmarks of this folder, or all of them, and prints a table of results for each: `bun
// scripts/bench/run.ts [name …] [--json FILE] [--docs FOLDER]`. `--json FILE` also writes the results to the file.
// `--docs FOLDER` also writes them to bench.md in the folder. Without names of benchmarks, `--docs` also draws
// speed.svg, the speed by the length of the recording.

import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { reasonOf } from '../../src/base/reason.ts'
import { formatSize } from '../../src/base/units.ts'
import { markdownTable, sectionsOf, type Tables, withTables } from './support/bench-document.ts'
import { chart, type Series } from './support/chart.ts'

/** A benchmark. `run` returns the rows of its table, beginning with the header. */
export type Bench = { name: string; run: () => Promise<string[][]> }

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'string' }, docs: { type: 'string' } },
})
const files = [...new Bun.Glob('*.ts').scanSync(import.meta.dir)].filter(file => file !== 'run.ts').toSorted()
const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${formatSize(totalmem())}, Bun ${Bun.version}`
console.log(`${machine}\n`)

/** The result tables, by the names of the benchmarks. These names are the titles in bench.md. */
const results: Tables = {}
/**
 * The tables of `results`, by the names of the benchmark files without `.ts`. The code that draws speed.svg finds its
 * tables by these names.
 */
const resultsOfFiles: Tables = {}
for (const file of files) {
  const name = file.replace('.ts', '')
  if (positionals.length > 0 && !positionals.includes(name)) continue
  const { bench } = (await import(`./${file}`)) as { bench: Bench }
  console.log(`## ${bench.name}\n`)
  try {
    const table = positionals.length === 1 ? await bench.run() : await runAlone(name)
    results[bench.name] = table
    resultsOfFiles[name] = table
    console.log(`${markdownTable(table)}\n`)
  } catch (error) {
    process.exitCode = 1
    console.log(`failed: ${reasonOf(error)}\n`)
  }
}
if (values.docs) await writeDocs(values.docs)
if (values.json) await Bun.write(values.json, JSON.stringify({ machine, results }, null, 2))

/**
 * Runs a benchmark in a separate process. Benchmarks measure the peak memory of their child processes, and on Linux, a
 * child process inherits the peak memory of its parent. In one process, the measurements would include the peak memory
 * of all earlier benchmarks.
 */
async function runAlone(name: string): Promise<string[][]> {
  const file = join(mkdtempSync(join(tmpdir(), 'steno-bench-')), 'table.json')
  try {
    const child = Bun.spawn([process.execPath, import.meta.path, name, '--json', file], { stdout: 'pipe' })
    const out = await new Response(child.stdout).text()
    if ((await child.exited) !== 0) throw new Error(out.trim().split('\n').at(-1))
    const { results } = (await Bun.file(file).json()) as { results: Tables }
    return Object.values(results)[0]!
  } finally {
    rmSync(dirname(file), { recursive: true })
  }
}

/**
 * Writes the results into bench.md. If benchmarks were named, only their sections change. Otherwise, also draws
 * speed.svg.
 */
async function writeDocs(folder: string): Promise<void> {
  const file = join(folder, 'bench.md')
  const today = new Date().toISOString().slice(0, 10)
  if (positionals.length > 0) {
    const measured = `Measured on ${today}, on ${machine}.`
    await Bun.write(file, withTables(await Bun.file(file).text(), results, measured))
    return
  }
  const about = `Measured with \`make bench\` on ${machine}, ${today}. A section with another date says so.`
  const long = series('engine-long', 'recognition, pocket model')
  const told = series('diarize-long', 'speakers, built-in models')
  const picture = long.length + told.length > 0 ? '![speed against length](speed.svg)\n\n' : ''
  await Bun.write(file, `# Benchmarks\n\n${about}\n\n${picture}${sectionsOf(results)}`)
  if (picture === '') return
  const note = `two threads, ${machine}`
  await Bun.write(join(folder, 'speed.svg'), chart('Times real time, by length', note, [...long, ...told]))
}

/**
 * Returns a list with one line of the chart: the results of the benchmark in the file `name`. The list is empty if the
 * benchmark has no results. The table of the results must have the columns `minutes` and `CPU s`.
 */
function series(name: string, label: string): Series[] {
  const [head = [], ...rows] = resultsOfFiles[name] ?? []
  const [minutes, cpu] = [head.indexOf('minutes'), head.indexOf('CPU s')]
  const points = rows
    .map(row => ({ minutes: Number(row[minutes]), speed: (60 * Number(row[minutes])) / Number(row[cpu]) }))
    .filter(each => Number.isFinite(each.speed))
  return points.length > 0 ? [{ name: `${label}, per CPU second`, points }] : []
}
