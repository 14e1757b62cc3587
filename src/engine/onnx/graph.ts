// Builds ONNX models, which are protobuf messages of operations and constants. The engine builds graphs for spectra,
// for voice detection, and for Whisper networks.

import { type ElementType, elements } from './elements.ts'
import { field, floatBytes, number, utf8 } from './protobuf.ts'

export type Constant = {
  dims: readonly number[]
  data: Float32Array | Float16Array | BigInt64Array | Int8Array | Uint8Array
}
/** A constant whose content is in an external file: `bytes` bytes, starting at offset `from` of the file `file`. */
export type Stored = { type: ElementType; dims: readonly number[]; file: string; from: number; bytes: number }
/**
 * An attribute of an operation. An attribute can be a graph, for example a branch of an `If` operation. Such a graph
 * can read values of the graph that contains the operation.
 */
type Attribute = number | readonly number[] | string | { float: number } | Branch
type Branch = { body(): Uint8Array }
export type Shape = readonly (number | string)[]

const runtimeDomain = 'com.microsoft'

export class Graph {
  private readonly nodes: Uint8Array[] = []
  private readonly constants: Uint8Array[] = []
  private readonly inputs: Uint8Array[] = []
  private readonly outputs: Uint8Array[] = []
  private count = 0

  /**
   * Makes an empty graph. `prefix` is the start of all names that the graph generates. A branch needs a prefix of its
   * own, so that its names differ from the names of the outer graph.
   */
  constructor(private readonly prefix = '') {}

  input(name: string, type: ElementType, shape: Shape): string {
    this.inputs.push(field(11, port(name, type, shape)))
    return name
  }

  output(name: string, type: ElementType, shape: Shape): void {
    this.outputs.push(field(12, port(name, type, shape)))
  }

  /** Adds a constant to the graph and returns the name of the constant. */
  constant({ dims, data }: Constant, name = `${this.prefix}c${this.count++}`): string {
    this.constants.push(field(5, tensor(name, dims, data)))
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
   * Adds an operation to the graph and returns the name of its first output. `operation` is the type of the operation.
   * A type of ONNX Runtime that is not in the ONNX standard begins with `com.microsoft.`. An empty text in `inputs` or
   * `outputs` means that this input or output is not used. `name` is only a label and has no effect.
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

  /** Returns the bytes of the ONNX model. `operators` is the version of the ONNX operators that the graph uses. */
  bytes(operators: 17 | 24 = 17): Uint8Array {
    const irVersion = operators === 24 ? 10 : 8
    return Buffer.concat([
      number(1, irVersion),
      field(7, this.body()),
      field(8, Buffer.concat([field(1, utf8('')), number(2, operators)])),
      field(8, Buffer.concat([field(1, utf8(runtimeDomain)), number(2, 1)])),
    ])
  }

  body(): Uint8Array {
    return Buffer.concat([
      ...this.nodes,
      field(2, utf8('steno')),
      ...this.constants,
      ...this.inputs,
      ...this.outputs,
    ])
  }
}

function node(
  operation: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: Record<string, Attribute>,
  name: string,
): Uint8Array {
  return Buffer.concat([
    ...inputs.map(name => field(1, utf8(name))),
    ...outputs.map(name => field(2, utf8(name))),
    ...(name === '' ? [] : [field(3, utf8(name))]),
    ...operationOf(operation),
    ...Object.entries(attributes).map(([name, value]) => field(5, attribute(name, value))),
  ])
}

function operationOf(operation: string): Uint8Array[] {
  const own = operation.startsWith(`${runtimeDomain}.`)
  if (!own) return [field(4, utf8(operation))]
  return [field(4, utf8(operation.slice(runtimeDomain.length + 1))), field(7, utf8(runtimeDomain))]
}

function attribute(name: string, value: Attribute): Uint8Array {
  const kind = { float: 1, int: 2, string: 3, graph: 5, ints: 7 }
  const label = field(1, utf8(name))
  if (typeof value === 'number') return Buffer.concat([label, number(3, value), number(20, kind.int)])
  if (typeof value === 'string') return Buffer.concat([label, field(4, utf8(value)), number(20, kind.string)])
  if ('body' in value) return Buffer.concat([label, field(6, value.body()), number(20, kind.graph)])
  if ('float' in value) {
    return Buffer.concat([
      label,
      Uint8Array.of((2 << 3) | 5),
      floatBytes(value.float),
      number(20, kind.float),
    ])
  }
  return Buffer.concat([label, ...value.map(item => number(8, item)), number(20, kind.ints)])
}

function tensor(name: string, dims: readonly number[], data: Constant['data']): Uint8Array {
  const raw = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  return Buffer.concat([
    ...dims.map(size => number(1, size)),
    number(2, elements[typeOf(data)].id),
    field(8, utf8(name)),
    field(9, raw),
  ])
}

function typeOf(data: Constant['data']): ElementType {
  if (data instanceof Float32Array) return 'float32'
  if (data instanceof Float16Array) return 'float16'
  if (data instanceof BigInt64Array) return 'int64'
  return data instanceof Int8Array ? 'int8' : 'uint8'
}

function port(name: string, type: ElementType, shape: Shape): Uint8Array {
  const dims = shape.map(size => field(1, typeof size === 'number' ? number(1, size) : field(2, utf8(size))))
  const kind = Buffer.concat([number(1, elements[type].id), field(2, Buffer.concat(dims))])
  return Buffer.concat([field(1, utf8(name)), field(2, field(1, kind))])
}
