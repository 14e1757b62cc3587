// Gathers the encoded windows of a batch, for networks in the compact form (8-bit weights). An encoded window has
// several kinds of tensors, such as the keys of the decoder's cross-attention. The tensors of one kind are copied into
// one memory area.

import { headSize } from '../network/layers.ts'
import type { ElementType } from '../onnx/session.ts'
import type { Facts } from './facts.ts'
import type { EncodedWindow } from './network.ts'

/**
 * The kinds of tensors in an encoded window, in the order of the encoder's outputs. A tensor has layers × 1 (window) ×
 * heads × length × 64 values. The length is the number of encoded frames if `byFrame` is true, and otherwise 1. The
 * last output of the encoder, `mass`, is not in this list, because it has only one value for each encoded frame.
 */
export const kinds = [
  { name: 'keys', type: 'uint8', bytes: 1, byFrame: true },
  { name: 'values', type: 'int8', bytes: 1, byFrame: true },
  { name: 'key_scales', type: 'float32', bytes: 4, byFrame: false },
  { name: 'value_scales', type: 'float32', bytes: 4, byFrame: false },
] as const satisfies { name: string; type: ElementType; bytes: number; byFrame: boolean }[]

/**
 * The tensors of one kind (see `kinds`), for all windows of a batch. `memory` has layers × windows × heads × `length` ×
 * 64 values: 64 is the size of an attention head. If the kind is keys or values, `length` is the number of encoded
 * frames in the longest window. The other kinds are scales, which are the factors of the 8-bit keys or values. Their
 * `length` is 1, because all frames of a window have the same scales. `rowBytes` is the number of bytes for one window
 * in one layer.
 */
export type Cross = {
  kind: (typeof kinds)[number]
  length: number
  memory: Uint8Array<ArrayBuffer>
  rowBytes: number
}

/** Returns the number of encoded frames in a window. Throws if another kind of network encoded the window. */
export function framesIn({ tensors }: EncodedWindow): number {
  const frames = tensors[0]?.dims[3]
  if (frames === undefined || tensors.length !== kinds.length + 1)
    throw new TypeError('the window was encoded by another network')
  return frames
}

/**
 * Copies the tensors of one kind from all windows into one memory area. `index` is the index of the kind in `kinds`.
 * `frames` is the number of encoded frames in the longest window. Each attention head of a window has 64 numbers for
 * each frame in the keys and values. All heads get memory for `frames` frames, and a shorter window leaves the end of
 * this memory unused. In the scales, each attention head has 64 numbers, whatever the length of the window.
 */
export function gather(
  windows: readonly EncodedWindow[],
  index: number,
  frames: number,
  facts: Facts,
): Cross {
  const kind = kinds[index]!
  const length = kind.byFrame ? frames : 1
  const headBytes = length * headSize * kind.bytes
  const rowBytes = facts.heads * headBytes
  const memory = new Uint8Array(facts.layers * windows.length * rowBytes)
  for (const [row, window] of windows.entries()) {
    const filled = kind.byFrame ? (headBytes / length) * framesIn(window) : headBytes
    const encoded = window.tensors[index]!.bytes(facts.layers * facts.heads * filled)
    for (let head = 0; head < facts.layers * facts.heads; head++) {
      const layer = Math.floor(head / facts.heads)
      const to = (layer * windows.length + row) * rowBytes + (head % facts.heads) * headBytes
      memory.set(encoded.subarray(head * filled, (head + 1) * filled), to)
    }
  }
  return { kind, length, memory, rowBytes }
}

/**
 * Frees the memory at once: tens of megabytes for a batch. The garbage collector would keep the memory of several
 * batches for a while.
 */
export function release({ memory }: Cross): void {
  memory.buffer.transfer(0)
}
