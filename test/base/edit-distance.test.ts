import { expect, test } from 'bun:test'
import { editDistance, nearest } from '../../src/base/edit-distance.ts'

const distances: [string, string, number][] = [
  ['', '', 0],
  ['', 'abc', 3],
  ['base', 'base', 0],
  ['bsae', 'base', 2],
  ['kitten', 'sitting', 3],
  ['small', 'smal', 1],
]
test.each(distances)('between “%s” and “%s” the edit distance is %i, both ways', (one, other, distance) => {
  expect(editDistance(one, other)).toBe(distance)
  expect(editDistance(other, one)).toBe(distance)
})

test('the distance of sentences counts words', () => {
  expect(editDistance('we will stay at home'.split(' '), 'we stay at their home'.split(' '))).toBe(2)
})

const names = ['tiny', 'base', 'small', 'large-v3', 'large-v3-turbo']
const misspelt: [string, string][] = [
  ['bsae', 'base'],
  ['BASE', 'base'],
  ['large-v2', 'large-v3'],
  ['large', 'large-v3'],
  ['turbo', 'large-v3-turbo'],
]
test.each(misspelt)('the nearest name to %s is %s', (given, name) => {
  expect(nearest(given, names)).toBe(name)
})

test('without names there is no nearest one', () => {
  expect(nearest('base', [])).toBeNull()
})
