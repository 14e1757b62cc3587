// Counts what one step of the decoder needs on a GPU: bytes on the PCIe bus, kernels (functions on the GPU), and bytes
// read from GPU memory. The operations in the graphs are counted and not run, so no GPU is needed.
//
// STENO_BENCH_FLOATS: the folder of a Whisper model in 32-bit floats, with ONNX graphs in the layout of onnx-community.
// The benchmark then also compares the tokens of these graphs with the tokens of steno's own graphs for GPUs. All
// graphs run on the CPU.

import { allowedCores } from '../../src/engine/onnx/cores.ts'
import { runtimeLibrary } from '../../src/engine/onnx/library.ts'
import { openRuntime } from '../../src/engine/onnx/runtime.ts'
import { type Counted, countStep } from './support/gpu-step.ts'
import { published } from './support/random-floats.ts'
import { sameTexts } from './support/same-texts.ts'

export const bench = { name: 'GPU: one decoding step, computed from the graphs', run }

async function run(): Promise<string[][]> {
  const rows = [
    ['model', 'rows', 'bus before, a step', 'bus after', 'nodes', 'kernels', 'GPU memory read, MB'],
  ]
  for (const [name, dimensions] of Object.entries(published))
    for (const count of [1, 8, 32]) rows.push(rowOf(name, countStep(dimensions, count)))
  const folder = process.env.STENO_BENCH_FLOATS
  if (!folder) return [...rows, ['-', 'texts not compared: STENO_BENCH_FLOATS is not set']]
  const { equal, all } = await sameTexts(openRuntime(runtimeLibrary(), allowedCores()), folder)
  return [...rows, ['-', `${equal} of ${all} utterances have equal tokens on the CPU`]]
}

function rowOf(name: string, counted: Counted): string[] {
  const { rows, busBefore, busAfter, nodes, kernels, memoryBytes } = counted
  return [
    name,
    `${rows}`,
    size(busBefore),
    size(busAfter),
    `${nodes}`,
    `${kernels}`,
    (memoryBytes / 1e6).toFixed(0),
  ]
}

function size(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}
