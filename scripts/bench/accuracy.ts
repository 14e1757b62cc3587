// Counts the word errors of every clip with a reference text. Also shows the detected language and the accuracy of the
// word times. Compares steno with transformers.js. transformers.js detects no language, so the benchmark passes the
// reference language to it.
//
// STENO_BENCH_MODEL: a model folder that replaces the small test model.
// STENO_BENCH_SAY=1: prints every recognised text to stderr.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { variantFor } from '../../src/engine/speech.ts'
import { decode } from '../../src/media/decode.ts'
import type { Transcript } from '../../src/transcripts/transcript.ts'
import { clips, pocket } from '../../test/support/engine-room.ts'
import { compareTimes, compareWords, plainWords, type Truth } from '../../test/support/words.ts'
import { ask } from './support/children.ts'
import { longestClip } from './support/clips.ts'
import type { ClipsOrder } from './support/hear-clips.ts'
import type { TransformersAnswer, TransformersOrder } from './support/transformers.ts'

const modelLabel = process.env.STENO_BENCH_MODEL ? 'given model' : 'pocket model'

export const bench = { name: `accuracy: every clip with truth, ${modelLabel}, beside transformers.js`, run }

const threads = 2
const variants = ['', '_quantized'] as const
type Variant = (typeof variants)[number]

/**
 * A test clip. `group` is `short` or `long`. `truth` is the reference text with the times of its words. `path` is a
 * file of raw samples.
 */
type Clip = { name: string; group: string; truth: Truth; path: string }

/**
 * The result of one program for one clip. `of` counts the words of the reference text, and `errors` the word errors.
 * `paired` counts the correctly recognised words. `near` counts the paired words whose start and end are within 0.2 s
 * of the reference. `language` is null if steno recognised no text. For transformers.js, `paired` and `near` are 0, and
 * `language` is the reference language.
 */
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
    const columns: [Result[], Result[]][] = []
    for (const variant of variants)
      columns.push([
        await hearWithSteno(model, variant, all),
        await hearWithTransformers(model, variant, all),
      ])
    const cells = (pick: (results: Result[]) => Result[]) =>
      columns.flatMap(([ours, theirs]) => [...ownCells(pick(ours)), errorCell(pick(theirs))])
    const rows = all.map(({ name, truth }, index) => [
      name,
      `${plainWords(truth.text).length}`,
      ...cells(results => results.slice(index, index + 1)),
    ])
    const groups = [...new Set(all.map(clip => clip.group)), 'all']
    const sums = groups.map(group => {
      const within = <Item>(list: Item[]) =>
        list.filter((_, index) => group === 'all' || all[index]?.group === group)
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
    .filter(file => file.endsWith('.json') && !file.endsWith('.recipe.json'))
    .map(file => file.replace('.json', ''))
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

async function hearWithSteno(folder: string, variant: Variant, all: readonly Clip[]): Promise<Result[]> {
  const order: ClipsOrder = { folder, variant, sounds: all.map(clip => clip.path), threads }
  const transcripts = await ask<Transcript[]>('hear-clips.ts', order)
  return transcripts.map((transcript, index) => {
    const { name, truth } = clipAt(all, index)
    const text = transcript.full_transcript
    printText(`steno${variant}`, name, text)
    const { right, of } = compareTimes(truth, transcript)
    const language = text === '' ? null : transcript.language
    return { ...errorsOf(truth, text), near: right, paired: of, language }
  })
}

async function hearWithTransformers(
  folder: string,
  variant: Variant,
  all: readonly Clip[],
): Promise<Result[]> {
  const sounds = all.map(({ path, truth }) => ({ path, language: truth.language ?? 'en' }))
  const order: TransformersOrder = { folder, variant, sounds, threads }
  const { texts } = await ask<TransformersAnswer>('transformers.ts', order)
  return texts.map((text, index) => {
    const { name, truth } = clipAt(all, index)
    printText(`transformers.js${variant}`, name, text)
    return { ...errorsOf(truth, text), near: 0, paired: 0, language: truth.language }
  })
}

function clipAt(all: readonly Clip[], index: number): Clip {
  const clip = all[index]
  if (!clip) throw new Error('there are more answers than clips')
  return clip
}

function printText(program: string, name: string, text: string): void {
  if (process.env.STENO_BENCH_SAY) console.error(`${name} · ${program} · ${text.trim()}`)
}

function errorsOf(truth: Truth, text: string): { of: number; errors: number } {
  const expected = plainWords(truth.text)
  return { of: expected.length, errors: compareWords(expected, plainWords(text)).errors }
}

function ownCells(results: Result[]): string[] {
  const near = sum(results, result => result.near)
  const paired = sum(results, result => result.paired)
  const languages = [...new Set(results.map(result => result.language ?? '-'))]
  return [
    errorCell(results),
    languages.length === 1 ? languages.join() : '',
    paired > 0 ? `${((100 * near) / paired).toFixed(1)} % of ${paired}` : '',
  ]
}

function errorCell(results: Result[]): string {
  const errors = sum(results, result => result.errors)
  const of = sum(results, result => result.of)
  return of === 0 ? `${errors} words` : `${errors} · ${((100 * errors) / of).toFixed(1)} %`
}

function sum(results: Result[], value: (result: Result) => number): number {
  return results.reduce((total, result) => total + value(result), 0)
}
