// Gives an ONNX model the layout of a model from another exporter.

import { port } from '../../src/engine/onnx/messages.ts'
import { field, number, utf8 } from '../../src/engine/onnx/protobuf.ts'
import { walk } from '../../src/engine/onnx/protobuf-reader.ts'

/** The protobuf field numbers of some fields in an ONNX file. */
const fields = { graph: 7, initializer: 5, input: 11, rawData: 9, externalData: 13, dataLocation: 14 }
/**
 * A constant of an ONNX model, such as a weight matrix, is moved to a separate file if it has at least this many bytes.
 */
const movedMin = 1024

/**
 * Moves the content of all large constants out of an ONNX model, which then refers to the file `file`. Returns the
 * changed model and the content for this file.
 */
export function withExternalData(
  model: Uint8Array,
  file: string,
): { model: Uint8Array; content: Uint8Array } {
  const moved: Uint8Array[] = []
  let length = 0
  const withoutContent = (constant: Uint8Array) =>
    rewritten(constant, (id, value, whole) => {
      if (id !== fields.rawData || value.length < movedMin) return whole
      const entry = (key: string, text: string) =>
        field(fields.externalData, Buffer.concat([field(1, utf8(key)), field(2, utf8(text))]))
      const place = [
        entry('location', file),
        entry('offset', `${length}`),
        entry('length', `${value.length}`),
      ]
      moved.push(value)
      length += value.length
      return Buffer.concat([...place, number(fields.dataLocation, 1)])
    })
  const changed = rewritten(model, (id, graph, whole) =>
    id === fields.graph
      ? field(
          id,
          rewritten(graph, (id, constant, whole) =>
            id === fields.initializer ? field(id, withoutContent(constant)) : whole,
          ),
        )
      : whole,
  )
  return { model: changed, content: Buffer.concat(moved) }
}

/**
 * Adds the input `cache_position` to the graph. Recent versions of Hugging Face's library transformers export models
 * with this input.
 */
export function withCachePosition(model: Uint8Array): Uint8Array {
  const input = field(fields.input, port('cache_position', 'int64', ['length']))
  return rewritten(model, (id, graph, whole) =>
    id === fields.graph ? field(id, Buffer.concat([graph, input])) : whole,
  )
}

/**
 * Rewrites the fields of a protobuf message, except fields whose content is a number. `rewrite` gets the field number
 * (`id`), the content, and all bytes of the field, and returns its new bytes.
 */
function rewritten(
  message: Uint8Array,
  rewrite: (id: number, content: Uint8Array, whole: Uint8Array) => Uint8Array,
): Uint8Array {
  const parts: Uint8Array[] = []
  walk(message, (id, content, whole) =>
    parts.push(typeof content === 'number' ? whole : rewrite(id, content, whole)),
  )
  return Buffer.concat(parts)
}
