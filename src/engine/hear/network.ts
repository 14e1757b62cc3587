// The interface of a Whisper network, encoder and decoder, for any layout of its weights.

import type { Tensor } from '../onnx/session.ts'

/** The output of the encoder for one window. Only the decoder of the same network can read it. */
export class EncodedWindow {
  constructor(readonly tensors: readonly Tensor[]) {}

  close(): void {
    for (const tensor of this.tensors) tensor.free()
  }
}

export type Encoder = {
  /** Encodes one window. On a CPU a batch of windows would cost memory and save no time. */
  encode(picture: Float32Array): EncodedWindow
}

export type Decoder = {
  /** Feeds the same prompt to every window. The windows may be closed when it returns. */
  begin(windows: readonly EncodedWindow[], prompt: readonly number[]): Batch
}

export type Batch = {
  rows: number
  /** Returns the scores of all tokens after a position of the last input, by default after its last position. */
  logits(row: number, position?: number): Float32Array
  /** Returns a copy of the cross-attention of the row's last token: alignment heads × frames. */
  attention(row: number, frames: number): Float32Array
  step(tokens: readonly number[]): void
  /** Removes a row; the last row takes its place. */
  drop(row: number): void
  close(): void
}

export type Network = {
  encoder: Encoder
  decoder: Decoder
  /** A decoder that also returns the cross-attention of each token; null when the model cannot. */
  attendingDecoder: Decoder | null
  /** The memory that the decoder needs for one window in a batch. */
  windowBytes: number
  close(): void
}
