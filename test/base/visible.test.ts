import { expect, test } from 'bun:test'
import { visiblePlace, withoutPassword } from '../../src/base/visible.ts'

test.each([
  ['https://ana:secret@media.example/talk.mp3?part=1', 'https://media.example/talk.mp3?part=1'],
  ['https://ana@media.example/talk.mp3', 'https://media.example/talk.mp3'],
  ['https://ana:secret@media.example:99999/talk.mp3', 'https://media.example:99999/talk.mp3'],
  ['https://media.example/ana:secret@talk.mp3', 'https://media.example/ana:secret@talk.mp3'],
  ['/home/ana/https://ana:secret@talk.mp3', '/home/ana/https://ana:secret@talk.mp3'],
  ['talk.mp3', 'talk.mp3'],
])('%p is shown as %p', (place, shown) => {
  expect([withoutPassword(place), visiblePlace(place)]).toEqual([shown, shown])
})
