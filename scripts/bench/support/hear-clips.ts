// A child process of the benchmarks: transcribes several files of samples. The engine detects the language. Diarization
// is off.

import { openWhisper, type Variant } from '../../../src/engine/hear/whisper.ts'
import { whisperModel } from '../../../src/engine/hear/whisper-model.ts'
import { openModels } from '../../../src/engine/loaded-models.ts'
import { runtimeLibrary, vadModel } from '../../../src/engine/onnx/library.ts'
import { openRuntime } from '../../../src/engine/onnx/runtime.ts'
import { transcribe } from '../../../src/engine/transcribe.ts'
import type { Transcript } from '../../../src/transcripts/transcript.ts'

export type ClipsOrder = { folder: string; variant: Variant; sounds: string[]; threads: number }

if (import.meta.main) console.log(JSON.stringify(await hearClips(JSON.parse(process.argv[2]!))))

async function hearClips({ folder, variant, sounds, threads }: ClipsOrder): Promise<Transcript[]> {
  const runtime = openRuntime(runtimeLibrary(), threads)
  const whisper = await openWhisper(runtime, folder, { device: 'cpu', variant })
  const models = openModels(
    runtime,
    [whisperModel(runtime, 'given', whisper)],
    await Bun.file(vadModel()).bytes(),
    {
      problem: 'not asked for',
    },
  )
  const asked = { path: '', durationMs: 0, language: null, diarize: false, speakerCount: null, align: true }
  const input = { ...asked, prompt: null, vocabulary: [] }
  const listener = { onSamples: async () => {}, onWarning: () => {} }
  const transcripts: Transcript[] = []
  for (const sound of sounds) {
    const samples = new Float32Array(await Bun.file(sound).arrayBuffer())
    transcripts.push(await transcribe(models, inPieces(samples), input, listener))
  }
  return transcripts
}

async function* inPieces(samples: Float32Array): AsyncGenerator<Float32Array> {
  for (let at = 0; at < samples.length; at += 16_000) yield samples.slice(at, at + 16_000)
}
