// A child process of the benchmarks: runs only diarization, on a file of samples that is repeated `repeat` times.

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
  const before = process.cpuUsage()
  for (let round = 0; round < repeat; round++) diarization.add(samples)
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
