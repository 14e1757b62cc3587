// Tests the functions by which a long task lets the event loop run: `nextTurn`, and the class `LaterTurn`.

import { expect, test } from 'bun:test'
import { LaterTurn, nextTurn } from '../../src/base/next-turn.ts'

test('a planned call runs once, in a later turn, and may plan the next one', async () => {
  const turn = new LaterTurn()
  const calls: string[] = []
  turn.plan(() => {
    calls.push('first')
    turn.plan(() => calls.push('third'))
  })
  turn.plan(() => calls.push('second'))
  expect(turn.isPlanned).toBe(true)
  expect(calls).toEqual([])
  await nextTurn()
  expect(calls).toEqual(['first'])
  await nextTurn()
  expect(calls).toEqual(['first', 'third'])
  expect(turn.isPlanned).toBe(false)
})

test('a call that is cancelled does not run', async () => {
  const turn = new LaterTurn()
  const calls: string[] = []
  turn.plan(() => calls.push('cancelled'))
  turn.cancel()
  expect(turn.isPlanned).toBe(false)
  turn.plan(() => calls.push('next'))
  await nextTurn()
  expect(calls).toEqual(['next'])
})
