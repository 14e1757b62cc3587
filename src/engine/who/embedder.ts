// The interface of an embedding model for diarization.

export type Embedder = {
  /** The number of values in a feature frame. Feature frames are 10 ms apart. */
  width: number
  /**
   * The number of feature values in the shortest part that the model was trained on. The caller repeats a shorter part
   * until it has this size.
   */
  sizeMin: number
  /** The index of the sample at the middle of the first feature frame. */
  firstMiddle: number
  /** Returns the feature frames of `sound`. The caller cuts the frames into parts with one voice each, for `embed`. */
  features(sound: Float32Array): Float32Array
  /**
   * Returns the embedding of each part. A part is the feature frames of one voice. The embedding is null if the part is
   * too short. An embedding is finite, but its length need not be 1.
   */
  embed(parts: readonly Float32Array[]): (Float32Array | null)[]
}
