// The delays and sizes of the web app.

export const timing = {
  /** Poll interval of the job list while a job is unfinished. */
  listEveryMs: 3000,
  /** First and longest delay between two attempts to reach a server that does not answer. */
  retryMs: 500,
  retryMsMax: 15_000,
  /** Time that a message stays on the screen. */
  toastMs: 5000,
  /** Time in which a deletion can be undone. */
  undoMs: 8000,
  /** Delay between the last keystroke and the request that saves it. */
  saveMs: 900,
  /** Keystrokes closer together than this are one step of undo. */
  undoStepMs: 1200,
  /** Delay between the last keystroke in a search field and the search. */
  typingMs: 250,
  /** Size of one PATCH of an upload. */
  pieceBytes: 16 * 1024 ** 2,
  /** Interval over which the speed of an upload is averaged. */
  speedMs: 5000,
  /** Silence that is skipped when the reader asks for it. */
  silenceMs: 1000,
  /** How often the operator's page asks for new figures. */
  operatorEveryMs: 10_000,
}
