// The interface of a Whisper network: an encoder and a decoder. There are three kinds of networks: ONNX graphs in the
// layout that onnx-community publishes, the compact form (8-bit weights), and steno's graphs for GPUs.

import type { Tensor } from '../onnx/session.ts'
import type { Rules } from './allowed.ts'
import type { NextToken } from './rules.ts'
import type { VoiceReading } from './voice-network.ts'

/** The output of the encoder for one window. Only the decoder of the same network can read it. */
export class EncodedWindow {
  constructor(readonly tensors: readonly Tensor[]) {}

  close(): void {
    for (const tensor of this.tensors) tensor.free()
  }
}

/** The input of the encoder for one window (at most 30 s of sound). */
export type EncoderInput = {
  /** The spectrogram of the window. */
  picture: Float32Array
  /**
   * The number of model frames (20 ms each) with sound. The later frames are silence. By default, the whole window has
   * sound.
   */
  soundFrames?: number
  /**
   * Called after the encoding of the window, if the model has a voice network. This is a small network that finds
   * voices in the encoder's output.
   */
  onVoiceReading?: ((reading: VoiceReading) => void) | null | undefined
}

export type Encoder = {
  /** Encodes one window. A batch of windows would need more memory, and would save no time on a CPU. */
  encode(window: EncoderInput): EncodedWindow
  /**
   * Encodes two windows at the same time, each on one thread. Returns the same results as two calls of `encode`, but
   * needs less CPU time. Missing or null if the encoder cannot do this.
   */
  encodeTwo?: ((one: EncoderInput, other: EncoderInput) => [EncodedWindow, EncodedWindow]) | null
}

/**
 * The facts that a decoder needs to choose the most probable tokens itself. `frames` is the length of the sound in each
 * window, in model frames (20 ms each).
 */
export type Greedy = { rules: Rules; frames: readonly number[] }

export type Decoder = {
  /**
   * Starts a batch with one row for each window, and adds `prompt` to each row. The caller may then close the encoded
   * windows. With `greedy`, the decoder may choose the most probable tokens itself (see `Batch.pick`).
   */
  begin(windows: readonly EncodedWindow[], prompt: readonly number[], greedy?: Greedy): Batch
}

export type Batch = {
  rows: number
  /**
   * Returns the scores of the whole vocabulary for the next token of a row (one window). These are the scores after the
   * token at `position`, an index into the tokens that the last call of `begin` or `step` added. The default is the
   * last of these tokens. For the tokens of a prompt, most decoders compute scores at two positions only: at Whisper's
   * start token and at the last token. At another position, they throw an error.
   */
  logits(row: number, position?: number): Float32Array
  /**
   * Returns the logarithm of the sum of exp(score) over the scores of `logits(row)`. With this number, the caller
   * computes probabilities without a sum over the whole vocabulary. Returns null if the last step did not compute it.
   * Missing if the decoder never computes it.
   */
  logTotal?(row: number): number | null
  /**
   * Returns the next token of the window at index `row`, chosen by the decoder. Returns null if the caller must choose
   * the token by the scores from `logits`. Missing if the decoder never chooses tokens.
   */
  pick?(row: number): NextToken | null
  /**
   * Returns the cross-attention of the last token of one row (window): alignment heads × frames. On a GPU, the values
   * first stay in the memory of the GPU, and the array contains zeros. `drop` copies the values into the array when it
   * removes the row.
   */
  attention(row: number, frames: number): Float32Array
  step(tokens: readonly number[]): void
  /** Removes one row (window) of the batch. The last row gets the index of the removed row. */
  drop(row: number): void
  close(): void
}

export type Network = {
  encoder: Encoder
  decoder: Decoder
  /** A decoder that also returns the cross-attention of each token. Null if the model returns none. */
  attendingDecoder: Decoder | null
  /** The memory in bytes that the decoder needs for each window of a batch. */
  windowBytes: number
  /**
   * True if each row of a batch needs the memory of a window of 30 s. Otherwise, each row needs the memory of the
   * longest window of the batch.
   */
  hasFullRows: boolean
  close(): void
}
