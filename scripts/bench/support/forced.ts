// A child process of the benchmarks: decodes a fixed number of tokens for each window of 30 s, and prints their number.
// With random weights, the decoder repeats tokens, and the engine would reject such a text. The script therefore runs
// the steps of the engine without its checks, and replaces each chosen token by a predetermined token.

import { windowFrames, windowSamples } from '../../../src/engine/audio.ts'
import { wordTimes } from '../../../src/engine/hear/align.ts'
import { rulesOf } from '../../../src/engine/hear/allowed.ts'
import { rowsFor } from '../../../src/engine/hear/batch-rows.ts'
import { openFeatures } from '../../../src/engine/hear/features.ts'
import { choose } from '../../../src/engine/hear/rules.ts'
import { openVad } from '../../../src/engine/hear/vad.ts'
import { openWhisper, type Whisper } from '../../../src/engine/hear/whisper.ts'
import { runtimeLibrary, vadModel } from '../../../src/engine/onnx/library.ts'
import { openRuntime } from '../../../src/engine/onnx/runtime.ts'

/**
 * The argument of this script, as JSON. `folder` is the model folder. `sound` is a file of raw 32-bit floats at 16 kHz.
 * `tokens` is the number of decoded tokens for each window of 30 s.
 */
export type ForcedOrder = { folder: string; sound: string; tokens: number; threads: number }

/**
 * This script replaces each token that the decoder chooses by a predetermined token (see the top of this file). The
 * first one of each window is a timestamp. The others have ids above this number, which stand for words and syllables.
 */
const wordTokens = 1000

if (import.meta.main) console.log(await hear(JSON.parse(process.argv[2] ?? '') as ForcedOrder))

async function hear({ folder, sound, tokens, threads }: ForcedOrder): Promise<number> {
  const runtime = openRuntime(runtimeLibrary(), threads)
  const whisper = await openWhisper(runtime, folder, { device: 'cpu', variant: 'compact' })
  const features = openFeatures(runtime, whisper.facts.mels)
  const speechIn = openVad(runtime, await Bun.file(vadModel()).bytes()).start()
  const samples = new Float32Array(await Bun.file(sound).arrayBuffer())
  const windows: Float32Array[] = []
  for (let at = 0; at < samples.length; at += windowSamples)
    windows.push(samples.subarray(at, at + windowSamples))
  let decoded = 0
  while (windows.length > 0) {
    const block = windows.splice(0, rowsFor(whisper))
    for (const window of block) speechIn(window)
    decoded += hearBlock(
      whisper,
      block.map(window => features.logMel(window)),
      tokens,
    )
    Bun.gc(true)
  }
  return decoded
}

/** Decodes a block of windows in one batch. Returns the number of decoded tokens. */
function hearBlock(whisper: Whisper, pictures: readonly Float32Array[], count: number): number {
  const { facts, encoder, attendingDecoder, tokenizer } = whisper
  const prompt = [facts.start, facts.languages.get('en') ?? 0, facts.transcribe ?? 0]
  const rules = rulesOf(facts, true)
  const encoded = pictures.map(picture => encoder.encode({ picture }))
  const batch = (attendingDecoder ?? whisper.decoder).begin(encoded, prompt)
  const rows = pictures.map(() => ({ tokens: [] as number[], attention: [] as Float32Array[] }))
  for (let step = 0; step < count; step++) {
    for (const [row, { tokens, attention }] of rows.entries()) {
      choose(rules, batch.logits(row), { tokens, frames: windowFrames })
      attention.push(batch.attention(row, windowFrames))
      tokens.push(step === 0 ? facts.firstTimestamp : wordTokens + step)
    }
    if (step < count - 1) batch.step(rows.map(({ tokens }) => tokens.at(-1) ?? 0))
  }
  batch.close()
  for (const { tokens, attention } of rows) {
    const ids = tokens.slice(1)
    const logProbabilities = ids.map(() => -0.1)
    wordTimes(
      tokenizer,
      'en',
      [{ ids, logProbabilities, attention, from: 0, to: windowFrames }],
      windowFrames,
    )
  }
  for (const window of encoded) window.close()
  return rows.reduce((sum, { tokens }) => sum + tokens.length, 0)
}
