import { expect, test } from 'bun:test'
import { openUptime } from '../../src/base/uptime.ts'

test('uptime starts at zero and follows the clock', () => {
  let now = 5000
  const uptime = openUptime(() => now, { stepMsMax: 100 })
  expect(uptime()).toBe(0)
  now += 100
  expect(uptime()).toBe(100)
  now += 30
  expect(uptime()).toBe(130)
})

test('a step above the maximum counts as the maximum', () => {
  let now = 0
  const uptime = openUptime(() => now, { stepMsMax: 100 })
  now += 3_600_000
  expect(uptime()).toBe(100)
  now += 50
  expect(uptime()).toBe(150)
})
