// The intervals and delays of the web app, and the size of an upload part.

export const timing = {
  /** Poll interval of the job list while a job is unfinished. */
  listEveryMs: 3000,
  /** Poll interval of the job list while all jobs have ended. */
  idleListEveryMs: 20_000,
  /** Delay before the first retry if the server does not answer. Each further delay is twice as long. */
  retryMs: 500,
  /** Longest delay between two retries. */
  retryMsMax: 15_000,
  /** Time after which the attempt of a webhook has usually ended. */
  attemptMs: 2000,
  /** Time that a message stays on the screen. */
  toastMs: 5000,
  /** Time after a deletion during which the person can undo it. */
  undoMs: 8000,
  /** Time after the last keystroke at which the text is saved. */
  saveMs: 900,
  /** Maximum time between two keystrokes that one undo reverts together. */
  undoStepMs: 1200,
  /** Time after the last keystroke in a search field at which the search starts. */
  typingMs: 250,
  /** Size of the part of a file that one request uploads. */
  pieceBytes: 16 * 1024 ** 2,
  /** Interval over which the speed of an upload is averaged. */
  speedMs: 5000,
  /** Shortest pause between two words that the player skips. */
  silenceMs: 1000,
  /** Poll interval of the operator's page. */
  operatorEveryMs: 10_000,
}
