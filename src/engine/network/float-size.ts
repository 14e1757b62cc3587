// The dimensions and the number format of a Whisper network with float weights.

/** The number format of the weights, the caches and most computations. */
export type FloatType = 'float16' | 'float32'

/** The dimensions of the network. */
export type FloatSize = {
  width: number
  heads: number
  /** The number of model frames in a window. A model frame is an output frame of the encoder: 0.02 s of sound. */
  frames: number
  /** The maximum number of tokens for one window, including the tokens of the prompt. */
  positions: number
  encoderLayers: number
  decoderLayers: number
  /**
   * The attention heads that follow the speech: word times come from them. Each head has two numbers: the index of its
   * decoder layer, and its index in this layer.
   */
  alignmentHeads: readonly (readonly [number, number])[]
}
