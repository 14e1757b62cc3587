// An embedding model, as diarization uses it.

export type Embedder = {
  /** The number of values in a feature frame. Feature frames are 10 ms apart. */
  width: number
  /** The size of the features of the shortest part that the model was trained on. Shorter parts are repeated. */
  sizeMin: number
  /** The index of the sample in the middle of the first feature frame. */
  firstMiddle: number
  /** Returns the feature frames of `sound`. A part of these frames, with one voice, is the input of `embed`. */
  features(sound: Float32Array): Float32Array
  /** Returns the embedding of each part. A part is the feature frames of one voice. Null stands for a part that is too short. */
  embed(parts: readonly Float32Array[]): (Float32Array | null)[]
}
