import { expect, test } from 'bun:test'
import { patternOf } from '../../src/web/transcript/matches.ts'

const ascii = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at))

test.each([
  [false, false],
  [false, true],
  [true, false],
])('every ASCII character is found as it is typed, whole words %p, same case %p', (isWhole, isCased) => {
  const text = `(${ascii.join('')})`
  const notFound = ascii.filter(character => {
    const asked = `${character}x${character}`
    return !patternOf(asked, { isWhole, isCased })?.test(`${text} ${asked} `)
  })
  expect(notFound).toEqual([])
})

// In Hindi, Bengali and decomposed Latin text, a mark (such as an accent) is a character of its own after its letter.
// The mark belongs to the word, so a whole word must not end before a mark.
test.each([
  ['कल', 'कला और कल', 'कला और X'],
  ['ल', 'किल और ल', 'किल और X'],
  ['কর', 'করা কর', 'করা X'],
  ['cafe', 'cafe\u0301, cafe', 'cafe\u0301, X'],
])('as a whole word, %p is not found in another word beside a mark', (asked, text, expected) => {
  const pattern = patternOf(asked, { isWhole: true, isCased: false })
  expect(text.replace(pattern ?? /^/, 'X')).toBe(expected)
})

test('a word with a hyphen is found', () => {
  const pattern = patternOf('e-mail', { isWhole: true, isCased: false })
  expect('An E-mail and an e-mailer.'.match(pattern ?? /^/)).toEqual(['E-mail'])
})
