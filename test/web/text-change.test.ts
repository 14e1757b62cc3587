import { expect, test } from 'bun:test'
import { changeOf } from '../../src/web/transcript/text-change.ts'

test.each([
  ['Good day.', 'Good day. Really.', { from: 9, to: 9, text: ' Really.' }],
  ['Good day. Really.', 'Good day.', { from: 9, to: 17, text: '' }],
  ['Good morning.', 'Good evening.', { from: 5, to: 8, text: 'eve' }],
  ['no', 'nono', { from: 2, to: 2, text: 'no' }],
  ['nono', 'no', { from: 2, to: 4, text: '' }],
  ['', 'new', { from: 0, to: 0, text: 'new' }],
])('the change from %p to %p is as short as possible', (before, after, change) => {
  expect(changeOf(before, after)).toEqual(change)
})
