// The two halves of a Whisper network, whatever the layout of its weights.

import type { Tensor } from '../onnx/session.ts'

/** What the encoder gave of one window. Only the decoder of the same network reads it. */
export class EncodedWindow {
  constructor(readonly tensors: readonly Tensor[]) {}

  close(): void {
    for (const tensor of this.tensors) tensor.free()
  }
}

export type Encoder = {
  /** Encodes one window. On a CPU a batch of windows costs memory and saves no time. */
  encode(picture: Float32Array): EncodedWindow
}

export type Decoder = {
  /** Feeds the same prompt to every window. The windows may be closed when it returns. */
  begin(windows: readonly EncodedWindow[], prompt: readonly number[]): Batch
}

export type Batch = {
  rows: number
  /** Scores over the vocabulary for the token that follows a position of the last input, by default its last one. */
  logits(row: number, position?: number): Float32Array
  /** Cross-attention of the row's last token: alignment heads × frames, copied. */
  attention(row: number, frames: number): Float32Array
  step(tokens: readonly number[]): void
  /** Removes a row; the last row takes its place. */
  drop(row: number): void
  close(): void
}

export type Network = {
  encoder: Encoder
  decoder: Decoder
  /** Also returns the cross-attention of each token; null when the decoder gives none. */
  attendingDecoder: Decoder | null
  /** Bytes of one window in the decoder, for every batch. */
  windowBytes: number
  close(): void
}
