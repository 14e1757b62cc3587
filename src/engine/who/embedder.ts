// The interface of an embedding model for diarization.

export type Embedder = {
  /** The number of values in one feature frame. A feature frame begins every 10 ms. */
  width: number
  /**
   * The number of feature values in the shortest sound on which the model was trained. The caller repeats the features
   * of a shorter sound until they have this number of values.
   */
  sizeMin: number
  /** The index of the sample in the middle of the first feature frame. */
  firstMiddle: number
  /**
   * Returns the feature frames of `sound`. The caller cuts these frames into parts with one voice each, and passes the
   * parts to `embed`.
   */
  features(sound: Float32Array): Float32Array
  /**
   * Returns the embedding of each part. A part is a series of feature frames of one voice. The embedding is null if the
   * part is too short. All values of an embedding are finite. The Euclidean norm of the embedding need not be 1.
   */
  embed(parts: readonly Float32Array[]): (Float32Array | null)[]
}
