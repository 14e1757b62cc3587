// An embedding model, as diarization uses it.

export type Embedder = {
  /** The number of values in a feature frame. Feature frames are 10 ms apart. */
  width: number
  /** The index of the sample in the middle of the first feature frame. */
  firstMiddle: number
  /** Returns the feature frames of `sound`. A part of these frames, with one voice, is the input of `embed`. */
  features(sound: Float32Array): Float32Array
  /** Returns the embedding of a voice from its feature frames. Returns null if there are too few feature frames. */
  embed(features: Float32Array): Float32Array | null
}
