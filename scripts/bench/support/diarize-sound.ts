// A child process of the benchmarks: diarizes a file of samples, repeated `repeat` times. No speech model runs here.
// Artificial voice readings replace the output of the speech model, and have the same size. A voice reading contains
// the number of voices that speak at each moment, and vectors of these voices.

import { framesPerEmbedding, samplesPerFrame, samplesPerMelFrame } from '../../../src/engine/audio.ts'
import type { VoiceReading } from '../../../src/engine/hear/voice-network.ts'
import { type VoiceFiles, voicesFor } from '../../../src/engine/models/voices.ts'
import { runtimeLibrary } from '../../../src/engine/onnx/library.ts'
import { openRuntime } from '../../../src/engine/onnx/runtime.ts'
import { Diarization } from '../../../src/engine/who/diarize.ts'
import { openVoices } from '../../../src/engine/who/voices.ts'
import { peakBytes } from '../../../test/support/peak.ts'

export type DiarizeOrder = { sound: string; repeat: number; threads: number }
export type DiarizeAnswer = { cpuMs: number; clusterMs: number; peakBytes: number; speakers: number }

if (import.meta.main)
  console.log(JSON.stringify(await diarize(JSON.parse(process.argv[2] ?? '') as DiarizeOrder)))

async function diarize({ sound, repeat, threads }: DiarizeOrder): Promise<DiarizeAnswer> {
  const voices = openVoices(
    openRuntime(runtimeLibrary(), threads),
    voicesFor('base', '/nowhere') as VoiceFiles,
  )
  const samples = new Float32Array(await Bun.file(sound).arrayBuffer())
  const diarization = new Diarization(voices)
  const reading = oneVoiceIn(samples.length)
  const before = process.cpuUsage()
  for (let round = 0; round < repeat; round++) {
    diarization.add(samples)
    const from = round * samples.length
    diarization.addVoiceReading([{ from, to: from + samples.length, at: 0 }], reading)
  }
  const heard = process.cpuUsage()
  const { turns } = diarization.finish(null)
  const after = process.cpuUsage()
  const ms = (from: NodeJS.CpuUsage, to: NodeJS.CpuUsage) =>
    (to.user + to.system - from.user - from.system) / 1000
  return {
    cpuMs: ms(before, after),
    clusterMs: ms(heard, after),
    peakBytes: peakBytes(),
    speakers: new Set(turns.map(turn => turn.speaker)).size,
  }
}

/**
 * Returns artificial output of the voice network (a voice reading) for a window of `length` samples. In this window,
 * one voice speaks all the time. For each 10 ms, the output has the probabilities of no voice, one voice and several
 * voices. For each 40 ms, the output has the same vector, which stands for the voice.
 */
function oneVoiceIn(length: number): VoiceReading {
  const width = 48
  const tenMs = 1 + Math.ceil(length / samplesPerMelFrame)
  const frames = Math.ceil(length / (framesPerEmbedding * samplesPerFrame))
  return {
    counts: Float32Array.from({ length: 3 * tenMs }, (_, at) => Number(at % 3 === 1)),
    embeddings: Float32Array.from({ length: width * frames }, () => 1 / Math.sqrt(width)),
    width,
  }
}
