// Changes an engine process for a test (see built-entry.ts): each time the engine runs a model twice at the same time,
// the process adds a line to a log file. The last command-line argument is the log file's path.

import { openSync, writeSync } from 'node:fs'
import { type RunTwo, Session } from '../../src/engine/onnx/session.ts'

// The file is opened at the start, because a confined engine may not open files for writing.
const file = openSync(process.argv.at(-1) ?? '', 'a')
const { runTwo } = Session.prototype

Session.prototype.runTwo = function <const Outputs extends readonly string[]>(
  this: Session,
  inputNames: readonly string[],
  outputNames: Outputs,
): RunTwo<Outputs> | null {
  const run = runTwo.call(this, inputNames, outputNames) as RunTwo<Outputs> | null
  if (!run) return null
  return (one, other) => {
    writeSync(file, 'two runs\n')
    return run(one, other)
  }
}
