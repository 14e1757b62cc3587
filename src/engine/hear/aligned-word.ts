// A word with its start and its end in a window, which is at most 30 s of sound.

export type AlignedWord = {
  text: string
  /** The start (`from`) and the end (`to`) of the word, in model frames of the window. */
  from: number
  to: number
  probability: number
}
