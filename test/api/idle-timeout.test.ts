import { expect, test } from 'bun:test'
import { idleSeconds } from '../../src/api/idle-timeout.ts'

test('Bun may close an idle connection four seconds early, so it gets four seconds more, up to its limit', () => {
  expect([1000, 3000, 60_000, 254_000].map(requestIdleMs => idleSeconds({ requestIdleMs }))).toEqual([
    5, 7, 64, 255,
  ])
})
