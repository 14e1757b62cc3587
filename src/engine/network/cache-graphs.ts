// Builds small ONNX graphs that work on the decoder's caches in the memory of a GPU: they write, move and read rows of
// a cache, or fill a cache with zeros. Each row of a cache belongs to one window of the recording.

import type { ElementType } from '../onnx/elements.ts'
import { Graph } from '../onnx/graph.ts'
import type { Shape } from '../onnx/messages.ts'
import { updated } from './float-caches.ts'

export type CacheShape = { name: string; type: ElementType; shape: Shape }

/**
 * Builds a model that overwrites rows of the decoder's caches, without copying the other rows. For each cache with a
 * name NAME, the input `new NAME` has the new content of these rows. The input `to` has the numbers of the rows, which
 * are the same in all caches.
 */
export function writeRows(caches: readonly CacheShape[]): Uint8Array {
  return inPlace(caches, (graph, { name, type, shape }) =>
    graph.input(`new ${name}`, type, ['moved', ...shape.slice(1)]),
  )
}

/** Builds a model that copies row `from[n]` of each cache to row `to[n]`, in place. */
export function moveRows(caches: readonly CacheShape[]): Uint8Array {
  return inPlace(caches, (graph, { name }, isFirst) => {
    const from = isFirst ? graph.input('from', 'int64', ['moved']) : 'from'
    return graph.add('Gather', [name, from], { axis: 0 })
  })
}

function inPlace(
  caches: readonly CacheShape[],
  content: (graph: Graph, cache: CacheShape, isFirst: boolean) => string,
): Uint8Array {
  const graph = new Graph()
  const rows = graph.add('Unsqueeze', [graph.input('to', 'int64', ['moved']), graph.integers(1)])
  for (const [index, cache] of caches.entries()) {
    const { name, type, shape } = cache
    graph.input(name, type, shape)
    graph.add('ScatterND', [name, rows, content(graph, cache, index === 0)], {}, [updated + name])
    graph.output(updated + name, type, shape)
  }
  return graph.bytes()
}

/**
 * Builds an ONNX model that reads one row of the attention cache, which has a row for each window of the batch. The
 * input `row` is the index of this row. Of this row, the model reads only the first `count` tokens and the first
 * `frames` frames. The output `read` has tokens × heads × frames values.
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

/** Builds a model without inputs. Its output `zeros` is a tensor of zeros with the given dimensions. */
export function zeros(type: 'float16' | 'float32', dims: readonly number[]): Uint8Array {
  const graph = new Graph()
  const filled = graph.add('ConstantOfShape', [graph.integers(...dims)])
  graph.add('Cast', [filled], { to: type === 'float16' ? 10 : 1 }, ['zeros'])
  graph.output('zeros', type, dims)
  return graph.bytes()
}
