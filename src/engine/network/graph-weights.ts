// Adds the weights and constants of a Whisper network to an ONNX graph. The graph only refers to the weights. ONNX
// Runtime reads them from the model's files, which are mapped into memory.

import { Graph } from '../onnx/graph.ts'
import type { FloatType } from './float-size.ts'
import type { FloatWeights, Weight } from './float-weights.ts'

const castTo = { float32: 1, float16: 10, int64: 7 } as const

export class GraphWeights {
  readonly graph = new Graph()
  /** The weights of the model that the graph uses, by name. */
  readonly used = new Map<string, Weight>()
  private readonly known = new Map<string, string>()

  constructor(
    private readonly weights: FloatWeights,
    readonly type: FloatType,
  ) {}

  find(name: string): Weight {
    const find = this.weights.get(name)
    if (!find) throw new Error(`the model has no ${name}`)
    return find()
  }

  /**
   * Adds the weight `name` to the graph, converted to the number format of the network. Returns its name in the graph.
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
   * Adds the named weight matrices to the graph, joined into one matrix of inputs × outputs. A matrix of outputs ×
   * inputs is transposed. ONNX Runtime transposes and joins the matrices only once, when the model is opened. Returns
   * the name of the joined matrix.
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
   * Adds the biases of the named projections to the graph, joined into one vector. A projection without a bias in the
   * file, such as Whisper's key projections, gets zeros.
   */
  bias(...names: string[]): string {
    const parts = names.map(name => {
      if (this.weights.has(`${name}.bias`)) return this.weight(`${name}.bias`)
      const { dims, transposed } = this.find(`${name}.weight`)
      return this.zeros(dims[transposed ? 1 : 0] ?? 0)
    })
    return this.once(`bias ${names}`, () => this.joined(parts, 0))
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
