// The intervals and delays of the web app, all in milliseconds, and the size of one part of an upload.

export const timing = {
  /**
   * The time between two requests for the list of jobs while a job has not ended. Also the delay before a refused event
   * stream is opened again.
   */
  listEveryMs: 3000,
  /** The shortest time between two periodic requests for the list of jobs while all jobs have ended. */
  idleListEveryMs: 20_000,
  /** The delay before the first retry of a request. Each further delay is twice as long, up to `retryMsMax`. */
  retryMs: 500,
  /** The longest delay before a retry, if the server sends no `Retry-After`. */
  retryMsMax: 15_000,
  /**
   * The time after which an attempt to deliver a webhook has usually ended. The page then loads the list of deliveries
   * again.
   */
  attemptMs: 2000,
  /** The time for which a message stays on the screen, unless it reports an error or has the button "Undo". */
  toastMs: 5000,
  /** The time for which an error message, or a message with the button "Undo", stays on the screen. */
  undoMs: 8000,
  /** An edited text is saved when this time has passed since the last keystroke. */
  saveMs: 900,
  /** Two keystrokes in one utterance belong to the same undo step if less than this time passes between them. */
  undoStepMs: 1200,
  /** A search, or the preview of an export, starts when this time has passed since its input last changed. */
  typingMs: 250,
  /** The maximum number of bytes that one request uploads. */
  pieceBytes: 16 * 1024 ** 2,
  /** An upload that makes no progress for this time is interrupted, and then continued. */
  stallMs: 60_000,
  /** The speed of an upload is averaged over this time. */
  speedMs: 5000,
  /** The player can skip a pause between two words if the pause is longer than this time. */
  silenceMs: 1000,
  /** The time between two requests for the data of the operator's page. */
  operatorEveryMs: 10_000,
}

/**
 * Returns the delay, in milliseconds, before another attempt (exponential backoff). `tries` is the number of earlier
 * delays.
 */
export function retryPauseMs(tries: number): number {
  return Math.min(timing.retryMsMax, timing.retryMs * 2 ** tries)
}
