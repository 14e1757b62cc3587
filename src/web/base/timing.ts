// The intervals and delays of the web app, and the size of an upload part.

export const timing = {
  /** Poll interval of the job list while a job is unfinished. */
  listEveryMs: 3000,
  /** Poll interval of the job list while all jobs have ended. */
  idleListEveryMs: 20_000,
  /** Delay before the first retry when the server does not answer. Each further delay is twice as long. */
  retryMs: 500,
  /** Longest delay between two retries. */
  retryMsMax: 15_000,
  /** Time after which the attempt of a webhook has usually ended. */
  attemptMs: 2000,
  /** Time that a message stays on the screen. */
  toastMs: 5000,
  /** Time after a deletion in which the person can undo the deletion. */
  undoMs: 8000,
  /** Delay between the last keystroke and the request that saves the text. */
  saveMs: 900,
  /** Longest time between two keystrokes that one undo reverts together. */
  undoStepMs: 1200,
  /** Delay between the last keystroke in a search field and the search. */
  typingMs: 250,
  /** Size of the part of a file that one PATCH request uploads. */
  pieceBytes: 16 * 1024 ** 2,
  /** Interval over which the speed of an upload is averaged. */
  speedMs: 5000,
  /** Shortest pause between two words that the player skips. */
  silenceMs: 1000,
  /** Poll interval of the operator's page. */
  operatorEveryMs: 10_000,
}
