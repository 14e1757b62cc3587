import { expect, test } from 'bun:test'
import { allowedAfter, rulesOf } from '../../../src/engine/hear/allowed.ts'
import { choose } from '../../../src/engine/hear/rules.ts'
import { FloatLayers } from '../../../src/engine/network/float-layers.ts'
import { addPick, allowedInput } from '../../../src/engine/network/pick.ts'
import { openSession, tensor } from '../../../src/engine/onnx/session.ts'
import { runtime } from '../../support/engine-room.ts'
import { smallFacts as facts } from './small-whisper.ts'

const rules = rulesOf(facts, true)
const { vocabulary, firstTimestamp: first, end } = facts

let state = 11
function random(): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}

/**
 * States of windows during the decoding: the number of model frames with sound, and the tokens so far. The test picks
 * the next token in each state.
 */
const histories = [
  [40, []],
  [40, [first]],
  [40, [first, 5]],
  [40, [first, 5, first + 9]],
  [40, [first, 5, first + 9, first + 9]],
  [40, [first, 5, first + 9, first + 9, 8]],
  [12, [first + 11, 5, first + 12]],
] as const

test('the graph picks the token that the rules choose, with its probability', () => {
  const layers = new FloatLayers(new Map(), 'float32', 1)
  layers.graph.input('scores', 'float32', ['rows', 1, vocabulary])
  layers.graph.input('allowed', 'float32', ['rows', 4])
  addPick(layers, 'scores', { ...facts, suppressed: rules.suppressed })
  const session = openSession(runtime(), layers.bytes())
  const run = session.run(['scores', 'allowed'], ['picked'])
  const chosen = new Set<string>()
  for (let round = 0; round < 40; round++) {
    // After each history, Whisper's rules allow only some kinds of token: text, time or end. With the random bonuses,
    // each allowed kind is chosen in at least one round.
    const bonus = { time: 9 * random() - 5, end: 12 * random() - 4 }
    const scores = Float32Array.from({ length: histories.length * vocabulary }, (_, at) => {
      const id = at % vocabulary
      return 6 * random() + (id >= first ? bonus.time : id === end ? bonus.end : 0)
    })
    const allowed = histories.flatMap(([frames, tokens]) =>
      allowedInput(allowedAfter({ tokens, frames }, rules), first),
    )
    const given = [
      tensor(runtime(), 'float32', scores, [histories.length, 1, vocabulary]),
      tensor(runtime(), 'float32', Float32Array.from(allowed), [histories.length, 4]),
    ]
    const [result] = run(given)
    const picked = result.floats(2 * histories.length)
    for (const [row, [frames, tokens]] of histories.entries()) {
      const own = scores.slice(row * vocabulary, (row + 1) * vocabulary)
      const expected = choose(rules, own, { tokens, frames })
      const kind = expected.token >= first ? 'time' : expected.token === end ? 'end' : 'text'
      chosen.add(`${row} ${kind}`)
      expect({ row, round, token: picked[2 * row] }).toEqual({ row, round, token: expected.token })
      expect(picked[2 * row + 1]).toBeCloseTo(expected.logProbability, 3)
    }
    for (const used of [...given, result]) used.free()
  }
  expect([...chosen].toSorted()).toEqual([
    '0 time',
    '1 end',
    '1 text',
    '2 end',
    '2 text',
    '2 time',
    '3 end',
    '3 time',
    '4 end',
    '4 text',
    '5 end',
    '5 text',
    '5 time',
    '6 end',
    '6 time',
  ])
  session.close()
})
