// Scores the diarization of `steno transcribe --diarize`: the turns (who speaks when) in the RTTM file, and the
// utterances and words in the JSON file. The score is the diarization error rate (DER). Errors near the start and the
// end of a turn count too. The conversations are made from LibriSpeech, recordings of people who read aloud.
// STENO_BENCH_SEED: the seed of the conversations.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { selfCommand } from '../../src/base/self.ts'
import type { Transcript } from '../../src/transcripts/transcript.ts'
import { firstOf } from '../../test/support/engine-room.ts'
import { wavFile } from '../../test/support/sound.ts'
import { conversationsOfReaders, type Named } from './support/conversation-sets.ts'
import { readRttm, type Segment, score, speakerCountOf } from './support/der.ts'

export const bench = { name: 'diarization: RTTM files, utterances and words of whole jobs', run }

type Rates = { group: string; isCountRight: boolean; turns: number; utterances: number; words: number }

async function run(): Promise<string[][]> {
  const head = ['voices', 'conversations', 'right count %', 'DER % of RTTM', 'of utterances', 'of words']
  const shared = firstOf('../shared/audio')
  if (!shared) return [head, ['-', 'skipped: the readers are not here']]
  const folder = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  try {
    const rates: Rates[] = []
    const seed = Number(process.env.STENO_BENCH_SEED ?? 1)
    for await (const conversation of conversationsOfReaders(shared, seed))
      rates.push(await rate(conversation, folder))
    return [head, ...[...Map.groupBy(rates, ({ group }) => group)].map(([group, own]) => rowOf(group, own))]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function rate({ group, name, samples, truth }: Named, folder: string): Promise<Rates> {
  const path = join(folder, name)
  const rounded = Int16Array.from(samples, value => Math.round(32_767 * Math.min(1, Math.max(-1, value))))
  await Bun.write(`${path}.wav`, wavFile(rounded))
  const options = ['--diarize', '--language', 'en', '--format', 'rttm,json', '--out', folder, '--quiet']
  const child = Bun.spawn(selfCommand('transcribe', `${path}.wav`, ...options), { stderr: 'pipe' })
  const said = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(said.trim().split('\n').at(-1))
  const turns = readRttm(await Bun.file(`${path}.rttm`).text())
  const { utterances } = (await Bun.file(`${path}.json`).json()) as Transcript
  const derOf = (segments: Segment[]) => score(truth, segments, 0).rate
  const segmentOf = ({ start, end, speaker }: { start: number; end: number; speaker?: string | null }) => ({
    from: start,
    to: end,
    speaker: speaker ?? '',
  })
  return {
    group,
    isCountRight: speakerCountOf(turns) === speakerCountOf(truth),
    turns: derOf(turns),
    utterances: derOf(utterances.map(segmentOf)),
    words: derOf(utterances.flatMap(({ words }) => words.map(segmentOf))),
  }
}

function rowOf(group: string, rates: readonly Rates[]): string[] {
  const mean = (of: (rates: Rates) => number, digits: number) =>
    ((100 * rates.reduce((sum, each) => sum + of(each), 0)) / rates.length).toFixed(digits)
  return [
    group,
    `${rates.length}`,
    mean(({ isCountRight }) => Number(isCountRight), 0),
    mean(({ turns }) => turns, 1),
    mean(({ utterances }) => utterances, 1),
    mean(({ words }) => words, 1),
  ]
}
