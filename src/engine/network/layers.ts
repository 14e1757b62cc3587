// Adds layers of the encoder and of the decoder to the ONNX graphs of Whisper in the compact form (8-bit weights).

import { Graph } from '../onnx/graph.ts'
import type { Shape, Stored } from '../onnx/messages.ts'
import { blockSize } from './quantise.ts'

export const headSize = 64
const epsilon = { float: 1e-5 }

/**
 * Activations that are quantised to 8 bits. `bytes` is the name of the tensor with the 8-bit values. `scales` is the
 * name of the tensor with one scale for each row. The byte `zero` represents 0.
 */
export type Quantised = { bytes: string; scales: string; zero: number }

/**
 * A quantised matrix with its bias, in the layout of the encoder: inputs × outputs. Each field is the name of a tensor
 * in the graph.
 */
export type Linear = { weight: string; scale: string; bias: string }

export class Layers {
  readonly graph = new Graph()
  private readonly known = new Map<string, string>()

  constructor(private readonly tensors: ReadonlyMap<string, Stored>) {}

  stored(name: string): Stored {
    const tensor = this.tensors.get(name)
    if (!tensor) throw new Error(`the compact model has no ${name}`)
    return tensor
  }

  /**
   * Adds a tensor of the model file to the graph, and returns its name in the graph. A tensor of 16-bit floats is
   * converted to 32-bit floats.
   */
  tensor(name: string): string {
    return this.once(name, () => {
      const stored = this.stored(name)
      const constant = this.graph.stored(stored, name)
      return stored.type === 'float16' ? this.graph.add('Cast', [constant], { to: 1 }) : constant
    })
  }

  /**
   * Returns the name of the graph value for this key. Only the first call for a key calls `make`, which adds the value.
   */
  once(key: string, make: () => string): string {
    const known = this.known.get(key) ?? make()
    this.known.set(key, known)
    return known
  }

  float(value: number): string {
    return this.once(`float ${value}`, () => this.graph.scalar(value))
  }

  byte(value: number): string {
    return this.once(`byte ${value}`, () => this.graph.constant({ dims: [], data: Uint8Array.of(value) }))
  }

  integers(...values: number[]): string {
    return this.once(`integers ${values}`, () => this.graph.integers(...values))
  }

  reshape(value: string, ...shape: number[]): string {
    return this.graph.add('Reshape', [value, this.integers(...shape)])
  }

  output(name: string, type: Stored['type'], shape: Shape, value: string): void {
    this.graph.add('Identity', [value], {}, [name])
    this.graph.output(name, type, shape)
  }

  norm(name: string, value: string): string {
    const parts = ['weight', 'bias'].map(part => this.tensor(`${name}.${part}`))
    return this.graph.add('LayerNormalization', [value, ...parts], { axis: -1, epsilon })
  }

  /**
   * Quantises a matrix of activations (rows × inputs) to 8 bits, with one scale for each row. `parts` are groups of
   * columns of the matrix. If `from` is `gelu`, the values are results of the activation function GELU, which is never
   * below -0.17. Negative numbers then get only 32 of the 256 byte values, so positive numbers are more precise.
   */
  quantised(parts: readonly string[], from: 'any' | 'gelu' = 'any'): Quantised {
    const { graph } = this
    const { zero, least } = from === 'any' ? { zero: 128, least: 1e-12 } : { zero: 32, least: 0.17 / 32 }
    const largest = parts.map(part => {
      const loudness = from === 'any' ? graph.add('Abs', [part]) : part
      return graph.add('ReduceMax', [loudness], { axes: [1], keepdims: 0 })
    })
    const scales = graph.add('Max', [
      graph.add('Mul', [graph.add('Max', largest), this.float(1 / (255 - zero))]),
      this.float(least),
    ])
    const zeros = graph.add('Expand', [this.byte(zero), graph.add('Shape', [scales])])
    const bytes = parts.map(part => graph.add('QuantizeLinear', [part, scales, zeros], { axis: 0 }))
    const [first = ''] = bytes
    return { bytes: bytes.length === 1 ? first : graph.add('Concat', bytes, { axis: 1 }), scales, zero }
  }

  linear(name: string): Linear {
    const parts = ['weight', 'scale', 'bias'].map(part => this.tensor(`${name}.${part}`))
    const [weight = '', scale = '', bias = ''] = parts
    return { weight, scale, bias }
  }

  /**
   * Divides a matrix (inputs × outputs) into `count` matrices, each with an equal share of the outputs. The product
   * with one of these matrices fits into the cache of a CPU, so the next operation reads this product faster. ONNX
   * Runtime divides the matrix only once, when the model is opened.
   */
  divided(name: string, count: number): Linear[] {
    const { weight, scale, bias } = this.linear(name)
    const [outputs = 0] = this.stored(`${name}.bias`).dims
    const lengths = this.integers(...Array<number>(count).fill(outputs / count))
    const split = (tensor: string, axis: number) => {
      const names = Array.from({ length: count }, (_, index) => `${tensor}.${index}`)
      this.graph.add('Split', [tensor, lengths], { axis }, names)
      return names
    }
    const [scales, biases] = [split(scale, 0), split(bias, 0)]
    return split(weight, 1).map((weight, index) => ({
      weight,
      scale: scales[index] ?? '',
      bias: biases[index] ?? '',
    }))
  }

  /**
   * Adds operations that multiply quantised activations by a matrix. The caller adds the bias. The matrix has the
   * layout of the encoder (inputs × outputs), which is fast for activations with many rows.
   */
  product({ weight, scale }: Omit<Linear, 'bias'>, { bytes, scales, zero }: Quantised): string {
    const { graph } = this
    const inputs = [bytes, weight, this.float(1), scale, this.byte(zero)]
    const product = graph.add('com.microsoft.MatMulIntegerToFloat', inputs)
    return graph.add('Mul', [product, graph.add('Unsqueeze', [scales, this.integers(1)])])
  }

  /**
   * Adds an operation that multiplies activations by a matrix in the layout that steno's decoder uses: outputs × blocks
   * of `blockSize` inputs. Each block has one scale. This layout is fast for activations with few rows, as in the
   * decoder. If `bias` is true, the bias is added.
   */
  blocks(name: string, value: string, bias = true): string {
    const [outputs = 0, blocks = 0] = this.stored(`${name}.weight`).dims
    const parts = ['weight', 'scale'].map(part => this.tensor(`${name}.${part}`))
    const inputs = [value, ...parts, '', '', ...(bias ? [this.tensor(`${name}.bias`)] : [])]
    // With accuracy level 4, ONNX Runtime quantises the activations to 8 bits.
    const [bits, int8Activations] = [8, 4]
    return this.graph.add('com.microsoft.MatMulNBits', inputs, {
      K: blocks * blockSize,
      N: outputs,
      bits,
      block_size: blockSize,
      accuracy_level: int8Activations,
    })
  }
}
