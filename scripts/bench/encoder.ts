// Compares the embeddings of the built-in voice encoder with those of the Python library Resemblyzer, on utterances of
// LibriSpeech in ../shared. STENO_BENCH_PYTHON: a Python with resemblyzer.

import { basename, join } from 'node:path'
import { runtimeLibrary } from '../../src/engine/onnx/library.ts'
import { openRuntime } from '../../src/engine/onnx/runtime.ts'
import { openEncoder } from '../../src/engine/who/encoder.ts'
import { dot } from '../../src/engine/who/unit.ts'
import { firstOf } from '../../test/support/engine-room.ts'
import { readSound } from '../../test/support/read-sound.ts'

export const bench = { name: 'diarization: the voice encoder beside Resemblyzer', run }

async function run(): Promise<string[][]> {
  const head = ['utterances', 'lowest cosine', 'mean cosine']
  const folder = firstOf('../shared/audio/librispeech-test-other')
  const model = firstOf('models/voice-encoder')
  const python = process.env.STENO_BENCH_PYTHON
  if (!folder || !model || !python)
    return [head, ['-', 'skipped: the utterances are not here, or STENO_BENCH_PYTHON is not set']]
  const paths = [...new Bun.Glob('*/*.flac').scanSync(folder)].toSorted().map(path => join(folder, path))
  const encoder = openEncoder(openRuntime(runtimeLibrary(), 2), model, 'cpu', { keepsNoise: true })
  const theirs = await askResemblyzer(python, paths)
  const cosines: number[] = []
  for (const path of paths) {
    const [ours] = encoder.embed([encoder.features(await readSound(path))])
    cosines.push(dot(ours ?? new Float32Array(256), Float32Array.from(theirs[basename(path)] ?? [])))
  }
  const mean = cosines.reduce((sum, cosine) => sum + cosine, 0) / cosines.length
  return [head, [`${cosines.length}`, Math.min(...cosines).toFixed(6), mean.toFixed(6)]]
}

async function askResemblyzer(python: string, paths: readonly string[]): Promise<Record<string, number[]>> {
  const child = Bun.spawn([python, join(import.meta.dir, 'support/resemble.py'), ...paths], {
    stderr: 'inherit',
  })
  const printed = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error('resemble.py failed')
  return JSON.parse(printed)
}
