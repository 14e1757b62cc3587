// The element types of tensors, and the number of elements in a tensor.

/** The element types. `id` is the number of the type in ONNX Runtime's C API and in ONNX files. */
export const elements = {
  float32: { id: 1, bytes: 4 },
  uint8: { id: 2, bytes: 1 },
  int8: { id: 3, bytes: 1 },
  int32: { id: 6, bytes: 4 },
  int64: { id: 7, bytes: 8 },
  bool: { id: 9, bytes: 1 },
  float16: { id: 10, bytes: 2 },
} as const

export type ElementType = keyof typeof elements

export function elementsIn(dims: readonly number[]): number {
  return dims.reduce((product, size) => product * size, 1)
}
