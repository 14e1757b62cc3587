// The interface of a Whisper network, which is an encoder and a decoder. Three kinds of network implement this
// interface: the ONNX graphs of a published model, the compact form (8-bit weights), and steno's graphs for GPUs.

import type { Tensor } from '../onnx/session.ts'
import type { Rules } from './allowed.ts'
import type { NextToken } from './rules.ts'
import type { VoiceReading } from './voice-network.ts'

/** The output of the encoder for one window. Only the decoder of the same network can read this output. */
export class EncodedWindow {
  constructor(readonly tensors: readonly Tensor[]) {}

  close(): void {
    for (const tensor of this.tensors) tensor.free()
  }
}

/** One window for the encoder. */
export type EncoderInput = {
  /** The spectrogram of the window. */
  picture: Float32Array
  /**
   * The number of model frames with sound. After these frames, the window has only silence. By default, the whole
   * window has sound.
   */
  soundFrames?: number
  /**
   * Called when the window is encoded, if the model has a voice network: a small network that reads the encoder's
   * output. See `VoiceReading` for what it finds.
   */
  onVoiceReading?: ((reading: VoiceReading) => void) | null | undefined
}

export type Encoder = {
  /**
   * Encodes one window. Windows are not encoded in batches, because a batch needs more memory and saves no time on a
   * CPU.
   */
  encode(window: EncoderInput): EncodedWindow
  /**
   * Encodes two windows at the same time, each on one thread. The results are those of `encode`, but need less CPU
   * time. An encoder that cannot do this does not have this function.
   */
  encodeTwo?: ((one: EncoderInput, other: EncoderInput) => [EncodedWindow, EncodedWindow]) | null
}

/**
 * The facts that a decoder needs if it chooses the most probable tokens by itself, without the caller: Whisper's rules
 * for the tokens that may follow, and the length of the sound in each window, in model frames (the frames of the
 * encoder's output, each 20 ms).
 */
export type Greedy = { rules: Rules; frames: readonly number[] }

export type Decoder = {
  /**
   * Starts a batch with one row for each window, and adds `prompt` to each row. After the call, the caller may close
   * the encoded windows. If `greedy` is given, the decoder may choose the most probable tokens itself (see
   * `Batch.pick`).
   */
  begin(windows: readonly EncodedWindow[], prompt: readonly number[], greedy?: Greedy): Batch
}

export type Batch = {
  rows: number
  /**
   * Returns the scores of all tokens of the vocabulary for the next token of one window. `row` is the number of the
   * window in the batch. `position` selects one of the tokens that the last call of `begin` or `step` added: the scores
   * are for the token after the selected one. By default, the last of these tokens is selected. For a prompt, a decoder
   * may compute only the scores at its start token and at its last token.
   */
  logits(row: number, position?: number): Float32Array
  /**
   * Returns the logarithm of the sum of exp(score) over the whole vocabulary. The scores are those of `logits(row)`.
   * Returns null if the decoder did not compute this number in the last step. A decoder that never computes it does not
   * have this function.
   */
  logTotal?(row: number): number | null
  /**
   * Returns the token that the decoder itself chose as the next token of a window. `row` is the number of the window in
   * the batch. Returns null if the decoder did not choose a token: the caller then chooses the token by the scores from
   * `logits`. A decoder that never chooses tokens does not have this function.
   */
  pick?(row: number): NextToken | null
  /**
   * Returns the cross-attention of the last token of one row (window) of the batch: alignment heads × frames. In a
   * network with steno's graphs for GPUs, the returned array contains zeros at first. The values are copied from the
   * GPU into the array when `drop` removes the row.
   */
  attention(row: number, frames: number): Float32Array
  step(tokens: readonly number[]): void
  /** Removes one window, which is a row of the batch. The last row of the batch gets the index of the removed row. */
  drop(row: number): void
  close(): void
}

export type Network = {
  encoder: Encoder
  decoder: Decoder
  /** A decoder that also returns the cross-attention of each token. Null if the model cannot return attention. */
  attendingDecoder: Decoder | null
  /** The memory that the decoder needs for each window of a batch, in bytes. */
  windowBytes: number
  /**
   * True if each row of a batch needs the memory of a window of 30 s. False if each row needs only the memory of the
   * longest window of the batch.
   */
  hasFullRows: boolean
  close(): void
}
