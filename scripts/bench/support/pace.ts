// A child process of the benchmarks: measures the CPU time of the encoder and of the decoder, and the peak memory. If
// `npm` is true, uses the package onnxruntime-node, which copies the decoder's cache to JavaScript. Otherwise, uses
// steno's own binding to ONNX Runtime.

import { join } from 'node:path'
import { windowMelFrames } from '../../../src/engine/audio.ts'
import { openWhisper, type Variant } from '../../../src/engine/hear/whisper.ts'
import { runtimeLibrary } from '../../../src/engine/onnx/library.ts'
import { openRuntime } from '../../../src/engine/onnx/runtime.ts'
import { type Run, Session } from '../../../src/engine/onnx/session.ts'
import { peakBytes } from '../../../test/support/peak.ts'

export type PaceOrder = {
  folder: string
  variant: Variant
  rows: number
  tokens: number
  threads: number
  npm: boolean
}
/**
 * CPU times in milliseconds, and the peak memory. `encodeMs` is the time of the encoder for one window of 30 s.
 * `decodeMs` is the time of the decoder for one batch: `rows` windows with `tokens` tokens each. `bareMs` is the part
 * of `decodeMs` inside ONNX Runtime, or 0 for onnxruntime-node (not measured).
 */
export type Pace = { encodeMs: number; decodeMs: number; bareMs: number; peakBytes: number }

const prompt = [50_258, 50_259, 50_359]
const windows = 3

if (import.meta.main) {
  const order = JSON.parse(process.argv[2]!) as PaceOrder
  console.log(JSON.stringify(await (order.npm ? paceOfPackage(order) : pace(order))))
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function picture(): Float32Array {
  return Float32Array.from({ length: 80 * windowMelFrames }, (_, at) => Math.sin(at * at))
}

async function pace({ folder, variant, rows, tokens, threads }: PaceOrder): Promise<Pace> {
  const runtime = openRuntime(runtimeLibrary(), threads)
  let bareMs = 0
  const open = Session.prototype.run
  const watched = function (this: Session, ...names: Parameters<typeof open>): Run {
    const run = open.apply(this, names)
    return inputs => {
      const before = cpuMs()
      const outputs = run(inputs)
      bareMs += cpuMs() - before
      return outputs
    }
  }
  Session.prototype.run = watched as typeof open
  const { encoder, decoder, attendingDecoder } = await openWhisper(runtime, folder, {
    device: 'cpu',
    variant,
  })
  const encoded = encoder.encode({ picture: picture() })
  const started = cpuMs()
  for (let round = 0; round < windows; round++) encoder.encode({ picture: picture() }).close()
  const encodeMs = (cpuMs() - started) / windows
  bareMs = 0
  const before = cpuMs()
  const batch = (attendingDecoder ?? decoder).begin(
    Array.from({ length: rows }, () => encoded),
    prompt,
  )
  for (let token = 1; token < tokens; token++) {
    for (let row = 0; row < rows; row++) batch.attention(row, 1500)
    batch.step(Array.from({ length: rows }, () => 1000 + token))
  }
  const decodeMs = cpuMs() - before
  batch.close()
  return { encodeMs, decodeMs, bareMs, peakBytes: peakBytes() }
}

async function paceOfPackage({ folder, variant, rows, tokens, threads }: PaceOrder): Promise<Pace> {
  const { InferenceSession, Tensor } = await import('onnxruntime-node')
  const options = {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  }
  const open = (name: string) =>
    InferenceSession.create(join(folder, 'onnx', `${name}${variant}.onnx`), options)
  const [encoder, decoder] = [await open('encoder_model'), await open('decoder_model_merged')]
  const input = new Tensor('float32', picture(), [1, 80, windowMelFrames])
  await encoder.run({ input_features: input })
  const started = cpuMs()
  let heard: Float32Array = new Float32Array(0)
  for (let round = 0; round < windows; round++)
    heard = (await encoder.run({ input_features: input })).last_hidden_state!.data as Float32Array
  const encodeMs = (cpuMs() - started) / windows
  const width = heard.length / 1500
  const states = new Float32Array(heard.length * rows)
  for (let row = 0; row < rows; row++) states.set(heard, row * heard.length)
  const layers = decoder.inputNames.filter(name => name.endsWith('decoder.key')).length
  const ids = (each: number[]) =>
    new Tensor('int64', BigInt64Array.from(Array.from({ length: rows }, () => each).flat(), BigInt), [
      rows,
      each.length,
    ])
  const hidden = new Tensor('float32', states, [rows, 1500, width])
  const empty = new Tensor('float32', new Float32Array(0), [rows, width / 64, 0, 64])
  const caches = ['decoder.key', 'decoder.value', 'encoder.key', 'encoder.value']
  const past: Record<string, InstanceType<typeof Tensor>> = {}
  for (let layer = 0; layer < layers; layer++)
    for (const each of caches) past[`past_key_values.${layer}.${each}`] = empty
  const flag = (value: boolean) => new Tensor('bool', Uint8Array.of(Number(value)), [1])
  const before = cpuMs()
  for (let token = 0; token < tokens; token++) {
    const feeds = {
      input_ids: ids(token === 0 ? prompt : [1000 + token]),
      encoder_hidden_states: hidden,
      ...past,
      use_cache_branch: flag(token > 0),
    }
    const results = await decoder.run(feeds)
    for (const name of Object.keys(past)) {
      if (token > 0 && name.includes('encoder')) continue
      past[name] = results[name.replace('past_key_values', 'present')] as InstanceType<typeof Tensor>
    }
  }
  return { encodeMs, decodeMs: cpuMs() - before, bareMs: 0, peakBytes: peakBytes() }
}
