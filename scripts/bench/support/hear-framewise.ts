// A child process of the benchmarks: transcribes the first 30 s of each file as one window with a CTC or TDT model.
// Several windows are decoded in one batch, as in a job. Prints the words of each file as a line of JSON.

import { openCtc } from '../../../src/engine/framewise/ctc.ts'
import { openTdt } from '../../../src/engine/framewise/tdt.ts'
import { Recording } from '../../../src/engine/hear/recording.ts'
import { type Window, windowOf } from '../../../src/engine/hear/windows.ts'
import { runtimeLibrary } from '../../../src/engine/onnx/library.ts'
import { openRuntime } from '../../../src/engine/onnx/runtime.ts'
import { decode } from '../../../src/media/decode.ts'

export type FramewiseOrder = { kind: 'ctc' | 'tdt'; folder: string; files: string[] }
export type FramewiseHeard = { text: string; start: number }[]

const rate = 16_000
const samplesMax = 30 * rate

if (import.meta.main) await hear(JSON.parse(process.argv[2] ?? '') as FramewiseOrder)

async function hear({ kind, folder, files }: FramewiseOrder): Promise<void> {
  const runtime = openRuntime(runtimeLibrary(), 1)
  const model = await (kind === 'ctc' ? openCtc : openTdt)(runtime, { name: kind, folder }, 'cpu')
  const listener = { onSamples: async () => {}, onWarning: () => {} }
  const recording = new Recording()
  const windows: Window[] = []
  for (const file of files) {
    const from = recording.length
    const sound = decode(file, { signal: new AbortController().signal, durationMsMax: 600_000 })
    for await (const part of sound) recording.add(part)
    const voice = { from, to: Math.min(recording.length, from + samplesMax) }
    windows.push(windowOf([{ ...voice, voice }]))
  }
  const hearing = model.start({ prompt: null, vocabulary: [] })
  for (let at = 0; at < windows.length; at += hearing.rows) {
    const block = windows.slice(at, at + hearing.rows)
    const options = { recording, language: null, translate: false, listener }
    const { texts } = await hearing.hear(block, options)
    for (const window of block) {
      const own = texts.filter(({ from }) => from >= window.from && from < window.to)
      const heard: FramewiseHeard = own.map(({ text, from }) => ({
        text: text.trim(),
        start: (from - window.from) / rate,
      }))
      console.log(JSON.stringify(heard))
    }
  }
}
