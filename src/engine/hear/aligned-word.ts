// A word with its start and its end in a window, which is at most 30 s of sound.

export type AlignedWord = {
  text: string
  /**
   * The start (`from`) and the end (`to`) of the word, counted in model frames (20 ms each) from the start of the
   * window.
   */
  from: number
  to: number
  probability: number
}
