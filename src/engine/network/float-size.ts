// The dimensions and the number format of a Whisper network with float weights.

/** The number format of the weights, the caches and most computations. */
export type FloatType = 'float16' | 'float32'

/**
 * The dimensions of the network. Two indices identify an alignment head: the index of a decoder layer, and the index of
 * an attention head in this layer.
 */
export type FloatSize = {
  width: number
  heads: number
  /** The number of model frames in a window. A model frame is an output frame of the encoder: 0.02 s of sound. */
  frames: number
  /** The maximum number of tokens for one window, including the tokens of the prompt. */
  positions: number
  encoderLayers: number
  decoderLayers: number
  alignmentHeads: readonly (readonly [number, number])[]
}
