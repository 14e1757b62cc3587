// Adds the layers of a Whisper network with float weights to an ONNX graph for a GPU or a CPU.

import type { ElementType } from '../onnx/elements.ts'
import type { Shape } from '../onnx/messages.ts'
import type { FloatType } from './float-size.ts'
import type { FloatWeights } from './float-weights.ts'
import { GraphWeights } from './graph-weights.ts'

/** The version of the ONNX operators. It is the first version with TensorScatter, which updates a cache in place. */
const operators = 24
const epsilon = { float: 1e-5 }

export class FloatLayers extends GraphWeights {
  constructor(
    weights: FloatWeights,
    type: FloatType,
    private readonly heads: number,
  ) {
    super(weights, type)
  }

  bytes(): Uint8Array {
    return this.graph.bytes(operators)
  }

  linear(value: string, ...names: string[]): string {
    return this.graph.add('Add', [
      this.graph.add('MatMul', [value, this.matrix(...names)]),
      this.bias(...names),
    ])
  }

  norm(name: string, value: string): string {
    const parts = ['weight', 'bias'].map(part => this.weight(`${name}.${part}`))
    return this.graph.add('LayerNormalization', [value, ...parts], { axis: -1, epsilon })
  }

  /**
   * Adds an operation to the graph, which adds the output of the matrix `projected` to the residual stream, and
   * normalises the sum. `value` is this output without its bias, which the operation adds too. `state` is the residual
   * stream: the sum to which each layer of the network adds its output. `norm` is the name of the layer normalisation
   * in the weights. Returns the names of two results: the new residual stream (`state`), and the normalised sum
   * (`normed`).
   */
  addAndNorm(
    state: string,
    value: string,
    projected: string,
    norm: string,
  ): { state: string; normed: string } {
    const inputs = [value, state, this.weight(`${norm}.weight`), this.weight(`${norm}.bias`)]
    const sum = `sum before ${norm}`
    const normed = this.graph.add(
      'com.microsoft.SkipLayerNormalization',
      [...inputs, this.bias(projected)],
      { epsilon },
      [`normed by ${norm}`, '', '', sum],
    )
    return { state: sum, normed }
  }

  /**
   * Adds a feed-forward layer to the graph: two matrix products, with a GELU between them. The bias of the second
   * matrix (`fc2`) is not added here. `addAndNorm` adds this bias later, in the operation that adds the output of the
   * layer to the residual stream.
   */
  feedForward(name: string, normed: string): string {
    const wide = this.graph.add('MatMul', [normed, this.matrix(`${name}.fc1`)])
    const active = this.graph.add('com.microsoft.BiasGelu', [wide, this.bias(`${name}.fc1`)])
    return this.graph.add('MatMul', [active, this.matrix(`${name}.fc2`)])
  }

  /**
   * Adds an attention operation. All parameters are names of tensors. `lengths` has the number of tokens in each row of
   * the key-value cache. With `lengths`, a token attends only to itself and to earlier tokens.
   */
  attention(query: string, key: string, value: string, lengths?: string): string {
    const cached = lengths === undefined ? [] : ['', '', '', lengths]
    const attributes = { q_num_heads: this.heads, kv_num_heads: this.heads }
    const causal = lengths === undefined ? {} : { is_causal: 1 }
    return this.graph.add('Attention', [query, key, value, ...cached], { ...attributes, ...causal })
  }

  /**
   * Splits the tensor `value` into `count` parts of `width` channels. `value` is the result of a call of `linear` with
   * the names of `count` layers, for example the layers for queries, keys and values. `linear` computes all these
   * layers in one matrix product. Each part is the result of one layer. Returns the names of the parts.
   */
  split(value: string, count: number, width: number): string[] {
    const parts = Array.from({ length: count }, (_, part) => `${value}.${part}`)
    const sizes = this.integers(...parts.map(() => width))
    this.graph.add('Split', [value, sizes], { axis: -1 }, parts)
    return parts
  }

  output(name: string, type: ElementType, shape: Shape, value: string): void {
    this.graph.add('Identity', [value], {}, [name])
    this.graph.output(name, type, shape)
  }
}
