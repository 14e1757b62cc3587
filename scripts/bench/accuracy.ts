// What is heard of every clip with truth, beside the plain transformers.js pipeline with the same weights: words
// that differ, languages, times of words. Ours has to find the language out, the other one is told it (it cannot
// find out; without being told it writes English).
//
// STENO_BENCH_TRANSFORMERS: a folder with node_modules/@huggingface/transformers.
// STENO_BENCH_MODEL: another folder of weights than the pocket model's.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { variantFor } from '../../src/engine/load.ts'
import { decode } from '../../src/media/decode.ts'
import type { Transcript } from '../../src/transcripts/transcript.ts'
import { clips, pocket } from '../../test/support/engine-room.ts'
import { compareTimes, compareWords, plainWords, type Truth } from '../../test/support/words.ts'
import { ask } from './support/children.ts'
import { longestClip } from './support/clips.ts'
import type { ClipsOrder } from './support/hear-clips.ts'
import type { TransformersAnswer, TransformersOrder } from './support/transformers.ts'

export const bench = { name: 'accuracy: every clip with truth, beside transformers.js', run }

const threads = 2
const variants = ['', '_quantized'] as const
type Variant = (typeof variants)[number]

/** `group` is what its words are summed up under. */
type Clip = { name: string; group: string; truth: Truth; path: string }

type Result = { of: number; errors: number; near: number; paired: number; language: string | null }

async function run(): Promise<string[][]> {
  const head = ['clip', 'words']
  for (const variant of variants) {
    const bits = variant === '' ? '' : ' 8 bits'
    head.push(`steno${bits}`, 'language', 'times within 0.2 s', `transformers.js${bits}`)
  }
  const folder = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  try {
    const model = process.env.STENO_BENCH_MODEL ?? pocket
    if (!model || !clips) return [head, ['-', 'skipped: the pocket model or its clips are not here']]
    variantFor(model, 'cpu')
    const all = await readClips(folder, clips)
    const columns: [Result[], Result[] | null][] = []
    for (const variant of variants)
      columns.push([await ours(model, variant, all), await theirs(model, variant, all)])
    const cells = (pick: (results: Result[]) => Result[]) =>
      columns.flatMap(([mine, other]) => [
        ...ownCells(pick(mine)),
        other ? errorCell(pick(other)) : 'not here',
      ])
    const rows = all.map(({ name, truth }, index) => [
      name,
      `${plainWords(truth.text).length}`,
      ...cells(results => [results[index]!]),
    ])
    const groups = [...new Set(all.map(each => each.group)), 'all']
    const sums = groups.map(group => {
      const within = <Item>(list: Item[]) =>
        list.filter((_, at) => group === 'all' || all[at]!.group === group)
      return [
        `SUM ${group}`,
        `${within(all).reduce((sum, { truth }) => sum + plainWords(truth.text).length, 0)}`,
        ...cells(within),
      ]
    })
    return [head, ...rows, ...sums]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function readClips(folder: string, from: string): Promise<Clip[]> {
  const names = readdirSync(from)
    .filter(each => each.endsWith('.json') && !each.endsWith('.recipe.json'))
    .map(each => each.replace('.json', ''))
  const read: Clip[] = []
  for (const name of names.toSorted()) {
    const truth = (await Bun.file(join(from, `${name}.json`)).json()) as Truth
    const path = join(folder, `${name}.f32`)
    const sound = decode(join(from, truth.file), {
      signal: new AbortController().signal,
      durationMsMax: 3_600_000,
    })
    const writer = Bun.file(path).writer()
    for await (const samples of sound) writer.write(samples)
    await writer.end()
    read.push({ name, group: truth.duration > 30 ? 'long' : 'short', truth, path })
  }
  const long = await longestClip(folder)
  if (!long) return read
  const path = join(folder, 'monologue.f32')
  await Bun.write(path, long.samples)
  return [...read, { name: 'monologue', group: 'long', truth: long.truth, path }]
}

async function ours(folder: string, variant: Variant, all: readonly Clip[]): Promise<Result[]> {
  const order: ClipsOrder = { folder, variant, sounds: all.map(each => each.path), threads }
  const transcripts = await ask<Transcript[]>('hear-clips.ts', order)
  return all.map(({ name, truth }, index) => {
    const transcript = transcripts[index]!
    say(`steno${variant}`, name, transcript.full_transcript)
    const { right, of } = compareTimes(truth, transcript)
    const said = transcript.full_transcript !== ''
    return {
      ...errorsOf(truth, transcript.full_transcript),
      near: right,
      paired: of,
      language: said ? transcript.language : null,
    }
  })
}

async function theirs(folder: string, variant: Variant, all: readonly Clip[]): Promise<Result[] | null> {
  const library = process.env.STENO_BENCH_TRANSFORMERS
  if (!library) return null
  const sounds = all.map(({ path, truth }) => ({ path, language: truth.language ?? 'en' }))
  const order: TransformersOrder = { library, folder, variant, sounds, threads }
  const { texts } = await ask<TransformersAnswer>('transformers.ts', order)
  return all.map(({ name, truth }, index) => {
    say(`transformers.js${variant}`, name, texts[index]!)
    return { ...errorsOf(truth, texts[index]!), near: 0, paired: 0, language: truth.language }
  })
}

/** What was said goes to stderr for whoever wants to see where it differs. */
function say(who: string, name: string, text: string): void {
  if (process.env.STENO_BENCH_SAY) console.error(`${name} · ${who} · ${text.trim()}`)
}

function errorsOf(truth: Truth, text: string): { of: number; errors: number } {
  const expected = plainWords(truth.text)
  return { of: expected.length, errors: compareWords(expected, plainWords(text)).errors }
}

function ownCells(results: Result[]): string[] {
  const near = sum(results, each => each.near)
  const paired = sum(results, each => each.paired)
  const codes = [...new Set(results.map(each => each.language ?? '-'))]
  return [
    errorCell(results),
    codes.length === 1 ? codes[0]! : '',
    paired > 0 ? `${((100 * near) / paired).toFixed(1)} % of ${paired}` : '',
  ]
}

function errorCell(results: Result[]): string {
  const errors = sum(results, each => each.errors)
  const of = sum(results, each => each.of)
  return of === 0 ? `${errors} words` : `${errors} · ${((100 * errors) / of).toFixed(1)} %`
}

function sum(results: Result[], value: (result: Result) => number): number {
  return results.reduce((total, each) => total + value(each), 0)
}
