// The interface of an embedding model for diarization.

export type Embedder = {
  /** The number of values in one feature frame. A feature frame begins every 10 ms. */
  width: number
  /**
   * The number of feature values of the shortest sound in the training of the model. The caller repeats the features of
   * a shorter sound until there are as many values.
   */
  sizeMin: number
  /** The index of the sample in the middle of the first feature frame. */
  firstMiddle: number
  /** Returns the feature frames of `sound`. The caller cuts these frames into parts with one voice each. */
  features(sound: Float32Array): Float32Array
  /**
   * Returns the embedding of each part, with finite values. The embedding is null if the part is too short. The
   * Euclidean norm of an embedding need not be 1.
   */
  embed(parts: readonly Float32Array[]): (Float32Array | null)[]
}
