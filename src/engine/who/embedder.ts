// The interface of an embedding model for diarization.

export type Embedder = {
  /** The number of values in a feature frame. Feature frames are 10 ms apart. */
  width: number
  /**
   * The number of feature values in the shortest sound on which the model was trained. The caller repeats the
   * features of a shorter part until the part has this size.
   */
  sizeMin: number
  /** The index of the sample in the middle of the first feature frame. */
  firstMiddle: number
  /**
   * Returns the feature frames of `sound`. For `embed`, the caller cuts these frames into parts with one voice each.
   */
  features(sound: Float32Array): Float32Array
  /**
   * Returns the embedding of each part, which is a series of feature frames of one voice. Returns null for a part
   * that is too short. All values of an embedding are finite. Its length need not be 1.
   */
  embed(parts: readonly Float32Array[]): (Float32Array | null)[]
}
