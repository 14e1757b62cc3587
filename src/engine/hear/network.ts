// The interface of a Whisper network: its encoder and its decoder. A network with published weights and a network in
// the compact form both implement this interface.

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
   * Encodes the spectrogram of one window. Windows are not batched, because a batch needs more memory and saves no time
   * on a CPU. The sound is in the first `soundFrames` model frames. By default, it fills the window.
   */
  encode(picture: Float32Array, soundFrames?: number): EncodedWindow
}

/** What a decoder needs to choose tokens itself: the rules, and the number of model frames of sound in each window. */
export type Greedy = { rules: Rules; frames: readonly number[] }

export type Decoder = {
  /**
   * Starts a batch and feeds `prompt` to every window. The caller may close the encoded windows when this call has
   * returned. With `greedy`, a decoder may choose the most probable tokens itself (see `pick`).
   */
  begin(windows: readonly EncodedWindow[], prompt: readonly number[], greedy?: Greedy): Batch
}

export type Batch = {
  rows: number
  /**
   * Returns the scores of all tokens of the vocabulary as the next token of a row. `position` is an index in
   * the last input; the default is its last position.
   */
  logits(row: number, position?: number): Float32Array
  /**
   * Returns the token that the decoder chose for a row. Null or absent if it chose none: `logits` then has the scores.
   * If the decoder chose a token, `logits` has no scores.
   */
  pick?(row: number): NextToken | null
  /**
   * Returns a copy of the cross-attention of the row's last token: alignment heads × frames. The copy may be filled as
   * late as when the row is removed.
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
  /**
   * A decoder that also returns the cross-attention of each token. Null when the model has no attention
   * outputs.
   */
  attendingDecoder: Decoder | null
  /** The memory, in bytes, that the decoder needs for one window in a batch. */
  windowBytes: number
  close(): void
}
