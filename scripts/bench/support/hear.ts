// A child process of the benchmarks: transcribes `repeat` copies of a file of samples, and measures the cost.

import { openWhisper, type Variant } from '../../../src/engine/hear/whisper.ts'
import { whisperModel } from '../../../src/engine/hear/whisper-model.ts'
import { openModels } from '../../../src/engine/loaded-models.ts'
import { type VoiceFiles, voicesFor } from '../../../src/engine/models/voices.ts'
import { runtimeLibrary, vadModel } from '../../../src/engine/onnx/library.ts'
import { openRuntime } from '../../../src/engine/onnx/runtime.ts'
import { type Run, Session } from '../../../src/engine/onnx/session.ts'
import { transcribe } from '../../../src/engine/transcribe.ts'
import { openVoices } from '../../../src/engine/who/voices.ts'
import { peakBytes } from '../../../test/support/peak.ts'

export type HearOrder = {
  folder: string
  variant: Variant
  /** The path of a file of raw 32-bit floats at 16 kHz, with one channel. */
  sound: string
  repeat: number
  threads: number
  language: string
  align: boolean
  /** If true, also diarizes with the built-in models. */
  diarize?: boolean
}

export type Heard = {
  wallMs: number
  cpuMs: number
  /**
   * The wall time and the CPU time that the encoder and the decoder together spend inside ONNX Runtime. Each is 0 for a
   * model with steno's 8-bit weights (the compact form), because `watchRuns` does not recognise the graphs of such a
   * model.
   */
  bareWallMs: number
  bareCpuMs: number
  peakBytes: number
  text: string
}

if (import.meta.main) console.log(JSON.stringify(await hear(JSON.parse(process.argv[2]!) as HearOrder)))

async function hear(order: HearOrder): Promise<Heard> {
  const bare = watchRuns()
  const runtime = openRuntime(runtimeLibrary(), order.threads)
  const whisper = await openWhisper(runtime, order.folder, { device: 'cpu', variant: order.variant })
  const voices = order.diarize
    ? openVoices(runtime, voicesFor('base', '/nowhere') as VoiceFiles)
    : { problem: 'not asked for' }
  const models = openModels(
    runtime,
    [whisperModel(runtime, 'given', whisper)],
    await Bun.file(vadModel()).bytes(),
    voices,
  )
  const samples = new Float32Array(await Bun.file(order.sound).arrayBuffer())
  const input = {
    path: '',
    durationMs: 0,
    language: order.language,
    diarize: order.diarize ?? false,
    speakerCount: null,
    align: order.align,
    prompt: null,
    vocabulary: [],
  }
  bare.wallMs = 0
  bare.cpuMs = 0
  const before = clock()
  const transcript = await transcribe(models, parts(samples, order.repeat), input, {
    onSamples: async () => {},
    onWarning: () => {},
  })
  const after = clock()
  return {
    wallMs: after.wallMs - before.wallMs,
    cpuMs: after.cpuMs - before.cpuMs,
    bareWallMs: bare.wallMs,
    bareCpuMs: bare.cpuMs,
    peakBytes: peakBytes(),
    text: transcript.full_transcript,
  }
}

async function* parts(samples: Float32Array, repeat: number): AsyncGenerator<Float32Array> {
  for (let turn = 0; turn < repeat; turn++) {
    for (let at = 0; at < samples.length; at += 16_000) yield samples.slice(at, at + 16_000)
  }
}

function clock() {
  const { user, system } = process.cpuUsage()
  return { wallMs: performance.now(), cpuMs: (user + system) / 1000 }
}

/**
 * Measures the time of all runs of the encoder and the decoder. Recognises them by the name of the first input, which
 * is `input_features` in the encoder and `input_ids` in the decoder of the ONNX files of onnx-community. Runs of other
 * graphs do not count. A model with steno's 8-bit weights (the compact form) runs graphs with other input names, so
 * both times are 0.
 */
function watchRuns() {
  const spent = { wallMs: 0, cpuMs: 0 }
  const prepare = Session.prototype.run
  const watched = function (this: Session, ...[inputs, outputs]: Parameters<typeof prepare>): Run {
    const run = prepare.call(this, inputs, outputs)
    if (!['input_features', 'input_ids'].includes(inputs[0] ?? '')) return run
    return values => {
      const before = clock()
      const results = run(values)
      const after = clock()
      spent.wallMs += after.wallMs - before.wallMs
      spent.cpuMs += after.cpuMs - before.cpuMs
      return results
    }
  }
  Session.prototype.run = watched as typeof prepare
  return spent
}
