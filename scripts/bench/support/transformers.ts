// A child process of the benchmarks: transcribes several sounds one after the other with the unchanged pipeline of
// transformers.js. Each sound is a file of raw 32-bit floats.

import { basename, dirname } from 'node:path'
import { env, pipeline } from '@huggingface/transformers'
import { peakBytes } from '../../../test/support/peak.ts'

export type TransformersOrder = {
  folder: string
  variant: '' | '_quantized'
  sounds: { path: string; language: string }[]
  threads: number
  /**
   * If set, each sound is one window of 30 s, and the model decodes exactly this number of tokens. If missing, the
   * model ends each text itself.
   */
  tokens?: number
}

export type TransformersAnswer = { wallMs: number; cpuMs: number; peakBytes: number; texts: string[] }

if (import.meta.main) console.log(JSON.stringify(await hear(JSON.parse(process.argv[2] ?? ''))))

async function hear(order: TransformersOrder): Promise<TransformersAnswer> {
  env.allowRemoteModels = false
  env.localModelPath = dirname(order.folder)
  const recogniser = await pipeline('automatic-speech-recognition', basename(order.folder), {
    dtype: order.variant === '' ? 'fp32' : 'q8',
    session_options: { intraOpNumThreads: order.threads, interOpNumThreads: 1 },
  })
  const cpuBefore = process.cpuUsage()
  const before = performance.now()
  const texts: string[] = []
  for (const { path, language } of order.sounds) {
    const samples = new Float32Array(await Bun.file(path).arrayBuffer())
    const { tokens } = order
    const lengths = tokens
      ? { min_new_tokens: tokens, max_new_tokens: tokens }
      : { chunk_length_s: 30, stride_length_s: 5, return_timestamps: true }
    const { text } = await recogniser(samples, { ...lengths, language, task: 'transcribe' })
    texts.push(text)
  }
  const wallMs = performance.now() - before
  const { user, system } = process.cpuUsage(cpuBefore)
  return { wallMs, cpuMs: (user + system) / 1000, peakBytes: peakBytes(), texts }
}
