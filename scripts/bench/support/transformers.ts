// A child of the benches: the plain transformers.js pipeline over the same samples. The library is not one of
// ours; it is loaded from a folder that the bench names.

import { basename, dirname, join } from 'node:path'

type Order = { library: string; folder: string; sound: string; threads: number; language: string }

const order = JSON.parse(process.argv[2]!) as Order
const { pipeline, env } = await import(
  join(order.library, 'node_modules/@huggingface/transformers/dist/transformers.node.mjs')
)
env.allowRemoteModels = false
env.localModelPath = dirname(order.folder)
const recogniser = await pipeline('automatic-speech-recognition', basename(order.folder), {
  dtype: 'fp32',
  session_options: { intraOpNumThreads: order.threads, interOpNumThreads: 1 },
})
const samples = new Float32Array(await Bun.file(order.sound).arrayBuffer())
const cpuBefore = process.cpuUsage()
const before = performance.now()
const { text } = await recogniser(samples, {
  chunk_length_s: 30,
  stride_length_s: 5,
  return_timestamps: true,
  language: order.language,
  task: 'transcribe',
})
const wallMs = performance.now() - before
const { user, system } = process.cpuUsage(cpuBefore)
const peakBytes = process.resourceUsage().maxRSS * 1024
console.log(JSON.stringify({ wallMs, cpuMs: (user + system) / 1000, peakBytes, text }))
