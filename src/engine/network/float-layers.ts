// Adds the layers of a Whisper network with float weights to an ONNX graph. The operations run on a GPU and on a CPU.
// The graph does not contain the weights. ONNX Runtime reads the weights from the model's files, which are mapped into
// memory.

import type { ElementType } from '../onnx/elements.ts'
import { Graph } from '../onnx/graph.ts'
import type { Shape } from '../onnx/messages.ts'
import type { FloatWeights, Weight } from './source.ts'

/** The number format of all computations and caches. */
export type FloatType = 'float16' | 'float32'

/**
 * The dimensions of a Whisper network with float weights. Each alignment head is a pair: the index of its decoder
 * layer, and the index of the head in this layer.
 */
export type FloatSize = {
  width: number
  heads: number
  /** The number of model frames in a window. */
  frames: number
  /** The maximum number of tokens in a row of a batch, including the tokens of the prompt. */
  positions: number
  encoderLayers: number
  decoderLayers: number
  alignmentHeads: readonly (readonly [number, number])[]
}

/**
 * The version of the ONNX operators. Version 24 is the first one with the operator TensorScatter, which updates a cache
 * in place.
 */
const operators = 24
const epsilon = { float: 1e-5 }
const castTo = { float32: 1, float16: 10, int64: 7 } as const

export class FloatLayers {
  readonly graph = new Graph()
  /** The weights of the model that the graph uses, by name. */
  readonly used = new Map<string, Weight>()
  private readonly known = new Map<string, string>()

  constructor(
    private readonly weights: FloatWeights,
    readonly type: FloatType,
    private readonly heads: number,
  ) {}

  bytes(): Uint8Array {
    return this.graph.bytes(operators)
  }

  find(name: string): Weight {
    const find = this.weights.get(name)
    if (!find) throw new Error(`the model has no ${name}`)
    return find()
  }

  /**
   * Adds a weight of the model to the graph, and converts it to the number format of the network. Returns the name of
   * the converted weight.
   */
  weight(name: string): string {
    return this.once(name, () => {
      const { type, dims, bytes } = this.find(name)
      if (type === 'BF16') throw new Error(`the model has ${name} in bfloat16, which is not supported`)
      const stored = type === 'F16' ? 'float16' : 'float32'
      this.used.set(name, this.find(name))
      const from = { type: stored, dims, file: 'weights', from: 0, bytes: bytes.byteLength } as const
      const constant = this.graph.stored(from, name)
      return stored === this.type ? constant : this.cast(constant, this.type)
    })
  }

  /**
   * Adds the weight matrices with these names to the graph, in the layout inputs × outputs, joined into one matrix.
   * Returns the name of the joined matrix. ONNX Runtime transposes and joins the matrices only once, when the model is
   * opened.
   */
  matrix(...names: string[]): string {
    return this.once(`matrix ${names}`, () => {
      const parts = names.map(name => {
        const weight = this.weight(`${name}.weight`)
        const { transposed } = this.find(`${name}.weight`)
        return transposed ? weight : this.graph.add('Transpose', [weight], { perm: [1, 0] })
      })
      return this.joined(parts, 1)
    })
  }

  /**
   * Adds the biases of these projections to the graph, joined into one vector. Returns the name of the vector. The key
   * projections of Whisper have no bias, so their biases are zeros.
   */
  bias(...names: string[]): string {
    const parts = names.map(name => {
      if (this.weights.has(`${name}.bias`)) return this.weight(`${name}.bias`)
      const { dims, transposed } = this.find(`${name}.weight`)
      return this.zeros(dims[transposed ? 1 : 0] ?? 0)
    })
    return this.once(`bias ${names}`, () => this.joined(parts, 0))
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
   * Adds the sum of `state`, `value` and the bias of the projection `projected` to the graph, and the normalisation of
   * this sum by `norm`. Returns the names of the sum and of the normalised sum.
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
   * Adds the two matrix products of a feed-forward layer to the graph. Returns the name of the second product, to which
   * the bias of the second matrix is not yet added.
   */
  feedForward(name: string, normed: string): string {
    const wide = this.graph.add('MatMul', [normed, this.matrix(`${name}.fc1`)])
    const active = this.graph.add('com.microsoft.BiasGelu', [wide, this.bias(`${name}.fc1`)])
    return this.graph.add('MatMul', [active, this.matrix(`${name}.fc2`)])
  }

  /**
   * Adds an attention operation to the graph. `lengths` is the number of tokens in each row of a cache. If it is given,
   * a token attends only to itself and to earlier tokens. Otherwise it attends to all positions.
   */
  attention(query: string, key: string, value: string, lengths?: string): string {
    const cached = lengths === undefined ? [] : ['', '', '', lengths]
    const attributes = { q_num_heads: this.heads, kv_num_heads: this.heads }
    const causal = lengths === undefined ? {} : { is_causal: 1 }
    return this.graph.add('Attention', [query, key, value, ...cached], { ...attributes, ...causal })
  }

  /**
   * Adds an operation that splits joined projections into `count` parts of `width` channels. Returns the names of the
   * parts.
   */
  split(value: string, count: number, width: number): string[] {
    const parts = Array.from({ length: count }, (_, part) => `${value}.${part}`)
    const sizes = this.integers(...parts.map(() => width))
    this.graph.add('Split', [value, sizes], { axis: -1 }, parts)
    return parts
  }

  cast(value: string, type: keyof typeof castTo): string {
    return this.graph.add('Cast', [value], { to: castTo[type] })
  }

  integers(...values: number[]): string {
    return this.once(`integers ${values}`, () => this.graph.integers(...values))
  }

  /** Adds a single number to the graph as a constant, in the number format of the network. */
  number(value: number): string {
    return this.once(`number ${value}`, () => {
      const data = this.type === 'float16' ? Float16Array.of(value) : Float32Array.of(value)
      return this.graph.constant({ dims: [], data })
    })
  }

  output(name: string, type: ElementType, shape: Shape, value: string): void {
    this.graph.add('Identity', [value], {}, [name])
    this.graph.output(name, type, shape)
  }

  private zeros(count: number): string {
    return this.once(`zeros ${count}`, () => {
      const data = this.type === 'float16' ? new Float16Array(count) : new Float32Array(count)
      return this.graph.constant({ dims: [count], data })
    })
  }

  private joined(parts: readonly string[], axis: number): string {
    const [first] = parts
    return parts.length === 1 && first !== undefined ? first : this.graph.add('Concat', parts, { axis })
  }

  private once(key: string, make: () => string): string {
    const known = this.known.get(key) ?? make()
    this.known.set(key, known)
    return known
  }
}
