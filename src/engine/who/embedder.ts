// The interface of an embedding model for diarization.

export type Embedder = {
  /** The number of values in one feature frame. A feature frame begins every 10 ms. */
  width: number
  /**
   * The minimum number of feature values in each array that `embed` gets, because the model was not trained on shorter
   * sound. The caller of `embed` repeats the values of a shorter array. 0 means no minimum.
   */
  sizeMin: number
  /** The index of the sample in the middle of the first feature frame. */
  firstMiddle: number
  features(sound: Float32Array): Float32Array
  /**
   * Subtracts the steady noise from the feature frames, if this model needs it. The noise is measured in the given
   * frames, so they must come from a long stretch of sound.
   */
  withoutNoise(features: Float32Array): Float32Array
  /**
   * Returns one embedding for each array of feature values. An embedding is null if the array is too short, or if a
   * value of the embedding is not finite. The Euclidean norm of an embedding need not be 1.
   */
  embed(parts: readonly Float32Array[]): (Float32Array | null)[]
}
