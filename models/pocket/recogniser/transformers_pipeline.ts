// Counts the word errors of transformers.js on the test clips, with the small speech model whisper-pocket of this
// project. This checks that a program other than steno can load this model and recognises the same words. Run the
// script in a folder of its own, in which transformers.js is installed.
//
//   bun add @huggingface/transformers@4.3.1
//   bun PATH/transformers_pipeline.ts MODELS FIXTURES fp32|q8 [the beginnings of clip names...]
//
// The folder MODELS contains `whisper-pocket/`. transformers.js divides clips of more than 30 s into parts. ffmpeg
// decodes the clips.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const { env, pipeline } = await import(Bun.resolveSync('@huggingface/transformers', process.cwd()))
const [models, fixtures, dtype, ...names] = process.argv.slice(2) as [string, string, string, ...string[]]
Object.assign(env, { localModelPath: models, allowRemoteModels: false, allowLocalModels: true })
const recognise = await pipeline('automatic-speech-recognition', 'whisper-pocket', {
  dtype,
  device: 'cpu',
  session_options: { intraOpNumThreads: 1 },
})

function plainWords(text: string): string[] {
  return text.toLowerCase().replace(/[^\p{L}\p{N}' ]/gu, ' ').split(/\s+/).filter(Boolean)
}

function wordErrors(truth: string[], said: string[]): number {
  let row = [0, ...said.map((_, index) => index + 1)]
  for (const [i, expected] of truth.entries()) {
    const next = [i + 1]
    for (const [j, heard] of said.entries())
      next.push(Math.min(row[j + 1]! + 1, next[j]! + 1, row[j]! + (expected === heard ? 0 : 1)))
    row = next
  }
  return row.at(-1)!
}

function decode(file: string): Float32Array {
  const command = ['ffmpeg', '-v', 'error', '-i', file, '-f', 'f32le', '-ac', '1', '-ar', '16000', '-']
  const { stdout } = Bun.spawnSync(command)
  return new Float32Array(stdout.buffer, stdout.byteOffset, stdout.byteLength / 4)
}

const wrong = { timed: 0, plain: 0 }
let total = 0
for (const file of readdirSync(fixtures).filter(each => each.endsWith('.json') && !each.includes('recipe')).sort()) {
  if (names.length > 0 && !names.some(each => file.startsWith(each))) continue
  const truth = JSON.parse(readFileSync(join(fixtures, file), 'utf8'))
  const sound = decode(join(fixtures, truth.file))
  const options = { language: truth.language ?? 'en', ...(truth.duration > 30 ? { chunk_length_s: 30 } : {}) }
  const expected = plainWords(truth.text)
  const said: string[] = []
  const errors = { timed: 0, plain: 0 }
  for (const mode of ['timed', 'plain'] as const) {
    const { text } = await recognise(sound, mode === 'timed' ? { ...options, return_timestamps: true } : options)
    errors[mode] = wordErrors(expected, plainWords(text))
    wrong[mode] += errors[mode]
    if (errors[mode] > 0) said.push(`   ${mode}: ${text.trim().slice(0, 400)}`)
  }
  total += expected.length
  console.log(`${file}: ${errors.timed} timed, ${errors.plain} plain of ${expected.length}`)
  if (said.length > 0) console.log([`   truth: ${truth.text.slice(0, 400)}`, ...said].join('\n'))
}
const share = (count: number) => `${((100 * count) / total).toFixed(1)} %`
console.log(`wrong of ${total} words: ${share(wrong.timed)} with timestamps, ${share(wrong.plain)} without`)
