// Builds ONNX models, such as the graphs for spectra, for voice detection, and for Whisper networks.

import { type ElementType, elements } from './elements.ts'
import {
  type Attribute,
  type Constant,
  node,
  ownDomain,
  port,
  runtimeDomain,
  type Shape,
  type Stored,
  tensor,
} from './messages.ts'
import { field, fieldOfParts, number, utf8 } from './protobuf.ts'

export class Graph {
  private readonly nodes: Uint8Array[] = []
  private readonly constants: Uint8Array[] = []
  private readonly inputs: Uint8Array[] = []
  private readonly outputs: Uint8Array[] = []
  private count = 0

  /**
   * Makes an empty graph. All names that the graph generates begin with `prefix`. Each branch of an `If` operation
   * needs its own prefix, because no name may be used in two graphs.
   */
  constructor(private readonly prefix = '') {}

  input(name: string, type: ElementType, shape: Shape): string {
    this.inputs.push(field(11, port(name, type, shape)))
    return name
  }

  output(name: string, type: ElementType, shape: Shape): void {
    this.outputs.push(field(12, port(name, type, shape)))
  }

  /**
   * Adds a constant to the graph and returns its name. `data` is not copied, so do not change it before the call of
   * `bytes`.
   */
  constant({ dims, data }: Constant, name = `${this.prefix}c${this.count++}`): string {
    this.constants.push(...fieldOfParts(5, tensor(name, dims, data)))
    return name
  }

  /** Adds a constant whose content ONNX Runtime reads from a file. Returns the name of the constant. */
  stored({ type, dims, file, from, bytes }: Stored, name = `${this.prefix}c${this.count++}`): string {
    const isExternal = 1
    const entry = (key: string, value: string) =>
      field(13, Buffer.concat([field(1, utf8(key)), field(2, utf8(value))]))
    const place = [entry('location', file), entry('offset', `${from}`), entry('length', `${bytes}`)]
    const shape = dims.map(size => number(1, size))
    const parts = [
      ...shape,
      number(2, elements[type].id),
      field(8, utf8(name)),
      ...place,
      number(14, isExternal),
    ]
    this.constants.push(field(5, Buffer.concat(parts)))
    return name
  }

  scalar(value: number): string {
    return this.constant({ dims: [], data: Float32Array.of(value) })
  }

  integers(...values: number[]): string {
    return this.constant({ dims: [values.length], data: BigInt64Array.from(values, BigInt) })
  }

  /**
   * Adds an operation to the graph and returns the name of its first output. `operation` is its type. A type that only
   * ONNX Runtime has begins with `com.microsoft.`, and a type of steno with `steno.`. An empty text in `inputs` or
   * `outputs` means that the input or output is not used. `name` is only a label.
   */
  add(
    operation: string,
    inputs: readonly string[],
    attributes: Record<string, Attribute> = {},
    outputs: readonly string[] = [`${this.prefix}v${this.count++}`],
    name = '',
  ): string {
    const [first] = outputs
    if (first === undefined) throw new RangeError('an operation needs an output')
    this.nodes.push(field(1, node(operation, inputs, outputs, attributes, name)))
    return first
  }

  /** Returns the bytes of the ONNX model. `operators` is the version of the ONNX operator set (opset). */
  bytes(operators: 17 | 24 = 17): Uint8Array {
    const irVersion = operators === 24 ? 10 : 8
    return Buffer.concat([
      number(1, irVersion),
      ...fieldOfParts(7, this.parts()),
      field(8, Buffer.concat([field(1, utf8('')), number(2, operators)])),
      ...[runtimeDomain, ownDomain].map(domain =>
        field(8, Buffer.concat([field(1, utf8(domain)), number(2, 1)])),
      ),
    ])
  }

  body(): Uint8Array {
    return Buffer.concat(this.parts())
  }

  private parts(): Uint8Array[] {
    return [...this.nodes, field(2, utf8('steno')), ...this.constants, ...this.inputs, ...this.outputs]
  }
}
