import { afterEach, expect, jest, test } from 'bun:test'
import { countDown, hold, release } from '../../src/web/parts/countdown.ts'

afterEach(() => {
  jest.useRealTimers()
})

test('countdowns stand still until no reason is left, and then go on where they stopped', () => {
  jest.useFakeTimers()
  const ended: string[] = []
  const after = (ms: number) => {
    jest.advanceTimersByTime(ms)
    return ended.splice(0).join()
  }
  countDown(100, () => ended.push('first'))
  countDown(150, () => ended.push('second'))
  expect(after(60)).toBe('')
  hold('pointer')
  countDown(30, () => ended.push('added'))
  hold('focus')
  expect(after(1000)).toBe('')
  release('pointer')
  release('another reason')
  expect(after(1000)).toBe('')
  release('focus')
  expect(after(29)).toBe('')
  expect(after(1)).toBe('added')
  expect(after(10)).toBe('first')
  expect(after(49)).toBe('')
  expect(after(1)).toBe('second')
})
