// A word with its times in a window.

export type AlignedWord = {
  text: string
  /** The start (`from`) and the end (`to`) of the word, in model frames of the window. */
  from: number
  to: number
  probability: number
}
