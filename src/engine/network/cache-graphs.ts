// Builds small ONNX graphs that write, move and read rows of the decoder's caches in the memory of a GPU. Each row
// belongs to one window of the recording.

import type { ElementType } from '../onnx/elements.ts'
import { Graph } from '../onnx/graph.ts'
import type { Shape } from '../onnx/messages.ts'
import { updated } from './float-caches.ts'

export type CacheShape = { name: string; type: ElementType; shape: Shape }

/**
 * Builds a model that overwrites one row of each cache in place. The input `to` is the index of the row. A cache NAME
 * has the dimensions 1 × rows × …. For each cache, the input `new NAME` has the new content of the row.
 */
export function writeRow(caches: readonly CacheShape[]): Uint8Array {
  return inPlace(caches, (graph, { name, type, shape }) => {
    graph.input(`new ${name}`, type, [1, ...shape.slice(2)])
    return graph.add('Unsqueeze', [`new ${name}`, 'first axis'])
  })
}

/**
 * Builds a model that copies the row `from` of each cache to the row `to`, in place. A cache has the dimensions 1 ×
 * rows × ….
 */
export function moveRow(caches: readonly CacheShape[]): Uint8Array {
  return inPlace(caches, (graph, { name }, isFirst) => {
    const from = isFirst ? graph.input('from', 'int64', [1]) : 'from'
    return graph.add('Gather', [name, from], { axis: 1 })
  })
}

/**
 * Builds a model that overwrites one row of each cache with the result of `content`. The input `to` is the index of the
 * row. The ONNX operator TensorScatter is made for adding tokens to a row, but here it writes a whole row. The operator
 * ScatterND is meant for rows, but it is too slow: the CUDA provider copies each row with a single thread. ScatterND
 * took about 30 ms for Whisper base on an H200.
 */
function inPlace(
  caches: readonly CacheShape[],
  content: (graph: Graph, cache: CacheShape, isFirst: boolean) => string,
): Uint8Array {
  const graph = new Graph()
  graph.input('to', 'int64', [1])
  graph.constant({ dims: [1], data: BigInt64Array.of(0n) }, 'first axis')
  for (const [index, cache] of caches.entries()) {
    const { name, type, shape } = cache
    graph.input(name, type, shape)
    const row = content(graph, cache, index === 0)
    graph.add('TensorScatter', [name, row, 'to'], { axis: 1 }, [updated + name])
    graph.output(updated + name, type, shape)
  }
  return graph.bytes(24)
}

/**
 * Builds a model that reads the row `row` of the attention cache: its first `count` tokens and first `frames` frames.
 * The output `read` has tokens × heads × frames values.
 */
export function readAttention({ name, type, shape }: CacheShape): Uint8Array {
  const graph = new Graph()
  graph.input(name, type, shape)
  for (const size of ['row', 'count', 'frames']) graph.input(size, 'int64', [1])
  const row = graph.add('Squeeze', [graph.add('Gather', [name, 'row'], { axis: 0 }), graph.integers(0)])
  const ends = graph.add('Concat', ['count', 'frames'], { axis: 0 })
  const part = graph.add('Slice', [row, graph.integers(0, 0), ends, graph.integers(1, 2)])
  const turned = graph.add('Transpose', [part], { perm: [1, 0, 2] })
  graph.add('Cast', [turned], { to: 1 }, ['read'])
  graph.output('read', 'float32', ['tokens', 'heads', 'frames'])
  return graph.bytes()
}

/** Builds a model that clears a cache: its output `zeros` has as many zeros as the input `count` says. */
export function zeros(type: 'float16' | 'float32'): Uint8Array {
  const graph = new Graph()
  const data = type === 'float16' ? new Float16Array(1) : new Float32Array(1)
  graph.add('Expand', [graph.constant({ dims: [1], data }), graph.input('count', 'int64', [1])], {}, [
    'zeros',
  ])
  graph.output('zeros', type, ['zeros'])
  return graph.bytes()
}
