// Decodes a batch of windows (at most 30 s of sound each) and checks each text. If a text fails the check, its window
// is decoded again with the next higher temperature.

import type { RecogniseOptions, Row, Task } from './decode-rows.ts'
import { guards, judge, repeatsItself } from './guard.ts'
import { better, emptyHypothesis, type Hypothesis } from './hypothesis.ts'
import type { JointDecoding } from './joint-decoding.ts'
import type { EncodedWindow } from './network.ts'

export async function recognise(
  windows: readonly EncodedWindow[],
  rows: readonly Row[],
  { joint, ...options }: RecogniseOptions & { joint: JointDecoding },
): Promise<Hypothesis[]> {
  const tasks = windows.map((window, index): Task => {
    const row = rows[index]!
    return { row, window, best: emptyHypothesis(row.frames, 0, 0), random: seededRandom() }
  })
  let open = tasks
  for (const temperature of guards.temperatures) {
    const attempts = await joint.decode(open, temperature, options)
    open = []
    for (const { task, hypothesis, looped } of attempts) {
      const text = options.whisper.tokenizer.decode(hypothesis.tokens)
      hypothesis.repeats = repeatsItself(text, looped)
      const verdict = judge({ ...hypothesis, text, speechSeconds: task.row.speechSeconds })
      if (verdict === 'again') open.push(task)
      else hypothesis.verdict = verdict
      task.best = better(task.best, hypothesis, options.whisper.facts.firstTimestamp)
    }
    if (open.length === 0) break
  }
  return tasks.map(task => task.best)
}

/** Returns a random number generator with a fixed seed, so that a window always has the same result. */
function seededRandom(): () => number {
  let state = 1
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
