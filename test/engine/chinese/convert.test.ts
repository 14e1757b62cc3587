import { expect, test } from 'bun:test'
import { sampleRate } from '../../../src/engine/audio.ts'
import { convertTo, mainScript } from '../../../src/engine/chinese/convert.ts'
import { dictionariesTo, type Script, scriptOf } from '../../../src/engine/chinese/dictionaries.ts'

/** Converts a text with a pause of `pause` seconds after each comma and each `|`. The result has no `|`. */
function convert(script: Script, text: string, pause = 0.5): string {
  const spoken = Array.from(text, (character, at) => ({
    character,
    pause: '，|'.includes(text[at - 1] ?? '-') ? pause * sampleRate : 0,
  }))
  return convertTo(
    script,
    spoken.filter(({ character }) => character !== '|'),
  ).join('')
}

/** Simplified texts, each with its usual traditional text in Taiwan. */
const pairs: [string, string][] = [
  ['我们说的是简体中文', '我們說的是簡體中文'],
  ['我的头发后来变长了', '我的頭髮後來變長了'],
  ['发现这里面有一只猫', '發現這裡面有一隻貓'],
  ['只有干净的面包', '只有乾淨的麵包'],
  ['他说着话', '他說著話'],
  ['这是著名的系统', '這是著名的系統'],
  ['干部们没关系', '幹部們沒關係'],
]
test.each(pairs)('%s is written %s in traditional characters', (simplified, traditional) => {
  expect(convert('traditional', simplified)).toBe(traditional)
  expect(convert('simplified', traditional)).toBe(simplified)
})

test('a part in the other script changes, and the rest of the text does not', () => {
  expect(convert('simplified', '这是第一句。這是第二句。这是第三句。')).toBe(
    '这是第一句。这是第二句。这是第三句。',
  )
  expect(convert('traditional', '這是第一句。这是第二句。這是第三句。')).toBe(
    '這是第一句。這是第二句。這是第三句。',
  )
})

test.each([
  ['抬头|发现了', '抬頭發現了'],
  ['里头|发呆', '裡頭發呆'],
  ['他们的头|发言了', '他們的頭發言了'],
  ['这样干|净是问题', '這樣幹淨是問題'],
])('no phrase continues after the pause in %s', (simplified, traditional) => {
  expect(convert('traditional', simplified)).toBe(traditional)
})

test('a phrase continues over a gap of 0.2 s, as between the characters of a CTC model', () => {
  expect(convert('traditional', '我们的头|发', 0.2)).toBe('我們的頭髮')
})

test.each([
  ['抬头发现', '抬頭發現'],
  ['里头发呆', '裡頭發呆'],
  ['你保留发票吗', '你保留發票嗎'],
])(
  'of two phrases that overlap in %s, the one without an exception is replaced',
  (simplified, traditional) => {
    expect(convert('traditional', simplified)).toBe(traditional)
  },
)

test('of two phrases that overlap and have exceptions, the first one is replaced', () => {
  expect(convert('traditional', '反复试行')).toBe('反覆試行')
})

test('the text is divided into the fewest pieces, also with more exceptions', () => {
  expect(convert('traditional', '我们了解出口')).toBe('我們瞭解出口')
})

test('one long phrase is replaced, and not the two phrases in it', () => {
  expect(convert('traditional', '千钧一发')).toBe('千鈞一髮')
})

test('a part begins at the longest pause before its first character of the other script', () => {
  expect(convert('traditional', '我說，后来我们走')).toBe('我說，後來我們走')
  expect(convert('traditional', '说皇后，皇后說')).toBe('說皇后，皇后說')
  expect(convert('traditional', '说后来，皇后說')).toBe('說後來，皇后說')
  expect(convert('traditional', '我說后来们走')).toBe('我說后來們走')
})

test('characters of both scripts do not change in a part that is in the wanted script', () => {
  expect(convert('traditional', '皇后對里長說：台灣的茶几')).toBe('皇后對里長說：台灣的茶几')
  expect(convert('simplified', '他对乾隆说：於先生')).toBe('他对乾隆说：於先生')
})

test('a text without characters of only one script does not change', () => {
  for (const text of ['', '大家好', 'Hello, world!', '皇后', '𠮷野家'])
    for (const script of ['simplified', 'traditional'] as const) expect(convert(script, text)).toBe(text)
})

test('the main script is the script of most of the characters that belong to only one script', () => {
  expect(mainScript('这是简体，這')).toBe('simplified')
  expect(mainScript('這是繁體，这')).toBe('traditional')
  expect(mainScript('這这')).toBeNull()
  expect(mainScript('大家好')).toBeNull()
})

test('characters with a meaning of their own in the other script belong to no script', () => {
  expect([...'后里台几乾於'].map(scriptOf)).toEqual([null, null, null, null, null, null])
  expect([...'这說'].map(scriptOf)).toEqual(['simplified', 'traditional'])
})

test('every replacement of a dictionary has as many characters as the text that it replaces', () => {
  for (const script of ['simplified', 'traditional'] as const)
    for (const { entries, longest } of dictionariesTo(script))
      for (const [text, replacement] of entries) {
        if ([...text].length !== [...replacement].length) throw new Error(`${text} ${replacement}`)
        if ([...text].length > longest) throw new Error(`${text} is longer than ${longest}`)
      }
})
