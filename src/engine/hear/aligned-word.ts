// A word with its start and its end in a window of at most 30 s of sound.

export type AlignedWord = {
  text: string
  /** The start and the end of the word, in model frames (20 ms each) from the start of the window. */
  from: number
  to: number
  probability: number
}
