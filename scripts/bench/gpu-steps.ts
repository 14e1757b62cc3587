// Predicts what one step of the decoder costs on a GPU: the bytes that the PCIe bus copies, the number of kernels, and
// the bytes that are read from the memory of the GPU. The times are predictions and not measurements. No GPU is needed,
// because the benchmark only counts the operations in the graphs and does not run them on a GPU.
//
// STENO_BENCH_FLOATS: the folder of a published Whisper model in 32-bit floats. The benchmark then also transcribes
// utterances on the CPU, with the model's own graphs and with steno's graphs for GPUs, and counts how many texts are
// equal.

import { allowedCores } from '../../src/engine/onnx/cores.ts'
import { runtimeLibrary } from '../../src/engine/onnx/library.ts'
import { openRuntime } from '../../src/engine/onnx/runtime.ts'
import { type Counted, countStep, type Dimensions } from './support/gpu-step.ts'
import { sameTexts } from './support/same-texts.ts'

export const bench = { name: 'GPU: one decoding step, computed from the graphs', run }

const models: Record<string, Dimensions> = {
  base: { width: 512, heads: 8, encoderLayers: 6, decoderLayers: 6, aligned: 8, vocabulary: 51_865 },
  turbo: { width: 1280, heads: 20, encoderLayers: 32, decoderLayers: 4, aligned: 6, vocabulary: 51_866 },
  'large-v3': {
    width: 1280,
    heads: 20,
    encoderLayers: 32,
    decoderLayers: 32,
    aligned: 10,
    vocabulary: 51_866,
  },
}

/**
 * The speeds of the GPU, from which the benchmark predicts the time of a decoding step. They are based on the published
 * figures of an H100 GPU with PCIe 5.
 */
const gpu = {
  /**
   * The bytes that the PCIe bus copies per second. The host memory is assumed to be not pinned (not locked for fast
   * copies).
   */
  bus: 12e9,
  /** The bytes that the GPU reads from its memory per second: 70 % of the published 3.35 TB/s. */
  memory: 0.7 * 3.35e12,
  /**
   * The time that each kernel costs, in seconds. `recorded`: the time in a CUDA graph, which records all kernels of a
   * step once and then replays them. `launched`: the time of a kernel that is launched separately.
   */
  kernel: { recorded: 2e-6, launched: 5e-6 },
  /**
   * The number of 16-bit operations that the GPU is assumed to compute per second for the encoder: 40 % of the 990
   * TFLOP/s that the manufacturer states.
   */
  operations: 0.4 * 990e12,
}
const tokensPerWindow = 100

async function run(): Promise<string[][]> {
  const rows = [
    [
      'model',
      'rows',
      'bus before, a step',
      'bus after',
      'nodes',
      'kernels',
      'GPU memory read, MB',
      'ms before',
      'ms launched',
      'ms recorded',
      '× real time at most',
    ],
  ]
  for (const [name, dimensions] of Object.entries(models))
    for (const count of [1, 8, 32]) rows.push(rowOf(name, dimensions, countStep(dimensions, count)))
  const folder = process.env.STENO_BENCH_FLOATS
  if (!folder) return [...rows, ['-', 'texts not compared: STENO_BENCH_FLOATS is not set']]
  const { equal, all } = await sameTexts(openRuntime(runtimeLibrary(), allowedCores()), folder)
  return [...rows, ['-', `${equal} of ${all} utterances have equal tokens on the CPU`]]
}

function rowOf(name: string, dimensions: Dimensions, counted: Counted): string[] {
  const { rows, busBefore, busAfter, nodes, kernels, memoryBytes } = counted
  const atLeast = (seconds: number) => Math.max(memoryBytes / gpu.memory, kernels * seconds)
  const recorded = atLeast(gpu.kernel.recorded)
  const encoder = encoderOperations(dimensions) / gpu.operations
  const window = encoder + (tokensPerWindow * recorded) / rows
  return [
    name,
    `${rows}`,
    size(busBefore),
    size(busAfter),
    `${nodes}`,
    `${kernels}`,
    (memoryBytes / 1e6).toFixed(0),
    ((1000 * busBefore) / gpu.bus).toFixed(1),
    (1000 * atLeast(gpu.kernel.launched)).toFixed(2),
    (1000 * recorded).toFixed(2),
    (30 / window).toFixed(0),
  ]
}

/**
 * Returns the number of floating-point operations that a window needs before its first token is decoded. These
 * operations are the matrix products of the encoder, the cross-attention keys and values of each decoder layer, and the
 * attention of the encoder. In this attention, each of the 1500 frames attends to all 1500 frames.
 */
function encoderOperations({ width, encoderLayers, decoderLayers }: Dimensions): number {
  const frames = 1500
  const matrices = 12 * width ** 2 * encoderLayers + 2 * width ** 2 * decoderLayers
  return 2 * frames * (matrices + 2 * frames * width * encoderLayers)
}

function size(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}
