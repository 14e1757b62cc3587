// Measures Whisper base on real speech: word errors, word times, CPU time, wall time and peak memory of whole
// processes. Compare the CPU times: the wall times depend on other programs on the machine. Every program must get the
// weights of the same model, in its own format.
//
// STENO_BENCH_MODEL: a model folder that replaces the built-in model.
// STENO_BENCH_PYTHON: a Python with faster-whisper and openai-whisper.
// STENO_BENCH_CT2: the folder of the weights in CTranslate2's format, for faster-whisper.
// STENO_BENCH_OPENAI: the file of the weights for openai/whisper, such as base.pt.
// STENO_BENCH_WHISPER_CPP: the path of whisper-cli.
// STENO_BENCH_PYWHISPERCPP: a Python with pywhispercpp, which is used if whisper-cli is not given.
// STENO_BENCH_GGML: the path of the weights in whisper.cpp's format.
// STENO_BENCH_PUBLISHED: the folder of the weights in ONNX files of onnx-community, for transformers.js.
//
// All sets of sounds contain the same 50 utterances. The set `joined` has one file. The set `one by one` has one file
// for each utterance.
//
// STENO_BENCH_LEADS=0,0.05,0.11: measures one set `one by one` for each number. Each file starts with this many seconds
// of silence. Such a small shift of the sound changes the word errors by chance, so a comparison needs several sets.
// STENO_BENCH_SOUNDS: measures only the sets whose name starts with this text, such as `joined`.
// STENO_BENCH_SAY=1: prints every text to stderr.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { firstOf } from '../../test/support/engine-room.ts'
import {
  type Answer,
  fasterWhisper,
  openaiWhisper,
  type Program,
  steno,
  transformersJs,
  whisperCpp,
} from './support/programs.ts'
import { realSpeech, type SoundSet } from './support/real-speech.ts'
import { compareStarts, wordErrors, wordsOutOfOrder, wordsOverSilence } from './support/score.ts'

const given = process.env.STENO_BENCH_MODEL

export const bench = {
  name: `real speech: 50 utterances, ${given ? 'given model' : 'Whisper base'}, beside others`,
  run,
}

type Runs = { program: Program; answers: Answer[] }

async function run(): Promise<string[][]> {
  const head = [
    'sound',
    'program',
    'CPU s',
    "steno's CPU ÷ its",
    'wall s',
    'WER %',
    'wrong, lost, invented',
    'words over silence',
    'out of order',
    'starts within 0.2 s of openai/whisper',
    'peak MB',
  ]
  const folder = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  try {
    const { STENO_BENCH_SOUNDS: only = '', STENO_BENCH_LEADS: leads = '0' } = process.env
    const sets = await realSpeech(folder, leads.split(',').map(Number))
    if (!sets) return [head, ['-', 'skipped: the utterances are not here']]
    const weights = firstOf('models/whisper-base/compact.safetensors')
    const model = given ?? (weights && dirname(weights))
    if (!model) return [head, ['-', 'skipped: the built-in model is not here']]
    const all = [steno(model), fasterWhisper(), whisperCpp(), transformersJs(), openaiWhisper()]
    const programs = all.filter(({ here }) => here)
    const rows: string[][] = []
    for (const set of sets.filter(({ name }) => name.startsWith(only)))
      rows.push(...rowsOf(set, await hearInTurn(set, programs)))
    const missing = all.filter(({ here }) => !here)
    return [head, ...rows, ...missing.map(({ name }) => ['-', name, 'skipped: not here'])]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function hearInTurn(set: SoundSet, programs: readonly Program[]): Promise<Runs[]> {
  const all = programs.map(program => ({ program, answers: [] as Answer[] }))
  for (let round = 0; round < Math.max(...programs.map(({ rounds }) => rounds)); round++) {
    for (const { program, answers } of all) {
      if (round >= program.rounds) continue
      const answer = await program.hear(set.sounds)
      answers.push(answer)
      if (process.env.STENO_BENCH_SAY)
        console.error(
          `${set.name} · ${program.name} · ${(answer.cpuMs / 1000).toFixed(1)} s · ${answer.text}`,
        )
    }
  }
  return all
}

function rowsOf(set: SoundSet, all: readonly Runs[]): string[][] {
  const find = (name: string) => all.find(({ program }) => program.name === name)?.answers ?? []
  const ours = mean(find('steno').map(({ cpuMs }) => cpuMs))
  const [reference] = find('openai/whisper')
  return all.map(({ program, answers }) => {
    const cpuMs = answers.map(answer => answer.cpuMs)
    const [answer] = answers
    if (!answer) throw new Error(`${program.name} did not run`)
    return [
      set.name,
      program.name,
      seconds(cpuMs),
      (ours / mean(cpuMs)).toFixed(2),
      seconds(answers.map(({ wallMs }) => wallMs)),
      ...wordCells(set, answer),
      ...timeCells(set, answer),
      startsCell(answer, reference),
      (Math.max(...answers.map(({ peakBytes }) => peakBytes)) / 1024 ** 2).toFixed(0),
    ]
  })
}

function wordCells({ sounds }: SoundSet, { text }: Answer): string[] {
  const truth = sounds.map(sound => sound.text).join(' ')
  const { of, wrong, lost, invented } = wordErrors(truth, text)
  return [((100 * (wrong + lost + invented)) / of).toFixed(1), `${wrong}, ${lost}, ${invented}`]
}

function timeCells({ sounds }: SoundSet, { words }: Answer): string[] {
  if (!words) return ['', '']
  const silent = sounds.map((sound, index) => wordsOverSilence(sound, words[index] ?? []))
  return [silent, words.map(wordsOutOfOrder)].map(
    counts => `${counts.reduce((sum, count) => sum + count, 0)}`,
  )
}

function startsCell({ words }: Answer, reference: Answer | undefined): string {
  if (!words || !reference?.words || words === reference.words) return ''
  const compared = words.map((each, index) => compareStarts(each, reference.words?.[index] ?? []))
  const near = compared.reduce((sum, each) => sum + each.near, 0)
  const of = compared.reduce((sum, each) => sum + each.of, 0)
  return `${((100 * near) / of).toFixed(1)} % of ${of}`
}

function seconds(values: readonly number[]): string {
  return values.map(value => (value / 1000).toFixed(1)).join(', ')
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
