// The interface of a Whisper network: its encoder and its decoder. Three kinds of network implement this interface:
// published graphs, the compact form, and the graphs for GPUs.

import type { Tensor } from '../onnx/session.ts'
import type { NextToken, Rules } from './rules.ts'

/** The output of the encoder for one window. Only the decoder of the same network can use this output. */
export class EncodedWindow {
  constructor(readonly tensors: readonly Tensor[]) {}

  close(): void {
    for (const tensor of this.tensors) tensor.free()
  }
}

export type Encoder = {
  /**
   * Encodes the spectrogram of one window. The first `soundFrames` model frames are sound, and silence follows; by
   * default, the whole window is sound. Windows are not encoded in batches, because a batch needs more memory and
   * saves no time on a CPU.
   */
  encode(picture: Float32Array, soundFrames?: number): EncodedWindow
}

/**
 * The parameters with which a decoder can choose tokens itself: the rules, and the number of model frames of sound in
 * each window.
 */
export type Greedy = { rules: Rules; frames: readonly number[] }

export type Decoder = {
  /**
   * Starts a batch and adds `prompt` to every row. The caller may close the encoded windows when this call has
   * returned. If `greedy` is given, the decoder may choose the most probable tokens itself (see `pick`).
   */
  begin(windows: readonly EncodedWindow[], prompt: readonly number[], greedy?: Greedy): Batch
}

export type Batch = {
  rows: number
  /**
   * Returns the scores of all tokens of the vocabulary as the next token of a row. `position` is an index into the
   * tokens that the last call added; the default is the last one.
   */
  logits(row: number, position?: number): Float32Array
  /**
   * Returns the token that the decoder chose for a row; `logits` then has no scores. Returns null if the decoder
   * chose no token; `logits` then has the scores. A decoder that never chooses tokens has no `pick`.
   */
  pick?(row: number): NextToken | null
  /**
   * Returns a copy of the cross-attention of the row's last token: alignment heads × frames. The values of the copy
   * may be missing until the row is removed.
   */
  attention(row: number, frames: number): Float32Array
  step(tokens: readonly number[]): void
  /** Removes a row. The last row moves to the place of the removed row. */
  drop(row: number): void
  close(): void
}

export type Network = {
  encoder: Encoder
  decoder: Decoder
  /** A decoder that also returns the cross-attention of each token. Null if the model has no attention outputs. */
  attendingDecoder: Decoder | null
  /** The memory, in bytes, that the decoder needs for one window in a batch. */
  windowBytes: number
  close(): void
}
