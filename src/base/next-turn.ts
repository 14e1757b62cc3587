/** Waits for the next turn of the event loop. The server answers requests between two parts of a long task. */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
