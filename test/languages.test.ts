import { expect, test } from 'bun:test'
import { isLanguage, languages, spokenAs } from '../src/languages.ts'

const whisperTiny = new Set(
  languages.slice(0, 100).filter(code => code !== 'yue'), // the hundredth came with large-v3
)

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

test('a multilingual model of Whisper has a language to run with for every code', () => {
  expect([...languages, 'jv'].filter(code => spokenAs(code, whisperTiny) === null)).toEqual([])
  expect(spokenAs('jv', whisperTiny)).toBe('jw')
  expect(spokenAs('yue', whisperTiny)).toBe('zh')
  expect(spokenAs('zu', whisperTiny)).toBe('sn')
})

test('an English model has no language to run with for German', () => {
  expect(spokenAs('de', new Set(['en']))).toBeNull()
})
