import { expect, test } from 'bun:test'
import { findMeantLanguage, isKnownToWhisper, isLanguage, languages, listedCode } from '../src/languages.ts'

test('there are 119 languages and the alias jv', () => {
  expect(new Set(languages).size).toBe(119)
  expect(isLanguage('de')).toBe(true)
  expect(isLanguage('yue')).toBe(true)
  expect(isLanguage('jv')).toBe(true)
  for (const wrong of ['', 'DE', 'deu', 'xx', 'en-US', '__proto__']) expect(isLanguage(wrong)).toBe(false)
})

test('every code of the contract is accepted', () => {
  const named =
    'af sq am ar hy as ast az ba eu be bn bs br bg yue kea ca ceb ny zh hr cs da nl en et fo fi fr ff gl ka de el'
  expect(named.split(' ').filter(code => !isLanguage(code))).toEqual([])
})

const meant: [string, string | null][] = [
  ['EN', 'en'],
  ['en-US', 'en'],
  ['pt_BR', 'pt'],
  ['deu', 'de'],
  ['nb-NO', 'no'],
  ['fil', 'tl'],
  ['tl-PH', 'tl'],
  ['cmn-Hans', 'zh'],
  ['__proto__-x', null],
  ['zh-Hant-TW', 'zh'],
  ['xx', null],
  ['English', 'en'],
  ['german', 'de'],
  ['Haitian Creole', 'ht'],
  ['Cantonese', 'yue'],
  ['Martian', null],
  ['__proto__', null],
  ['', null],
]
test.each(meant)('the suggested code for “%s” is %p', (given, code) => {
  expect(findMeantLanguage(given)).toBe(code)
})

test('Whisper supports 100 of the languages, one of them under another code', () => {
  expect(languages.filter(isKnownToWhisper).length).toBe(100)
  expect([listedCode('jv'), isKnownToWhisper('jv')]).toEqual(['jw', true])
  expect([listedCode('zu'), isKnownToWhisper('zu')]).toEqual(['zu', false])
})
