import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { readTokenizer } from '../../../src/engine/hear/tokenizer.ts'
import { pocket, unless } from '../../support/engine-room.ts'
import { inVocabulary } from '../../support/tokenizer.ts'

const skipped = unless(pocket, 'pocket model')
const json = pocket ? await Bun.file(join(pocket, 'tokenizer.json')).text() : '{}'
const tokenizer = pocket ? readTokenizer(json) : null!
const vocabulary: Record<string, number> = pocket ? JSON.parse(json).model.vocab : {}

/** Returns one token id for each byte of the text. */
function byteIds(text: string): number[] {
  return Array.from(Buffer.from(text), byte => vocabulary[inVocabulary(Uint8Array.of(byte))] ?? -1)
}

test.skipIf(!pocket).each([
  ['zh', '你好，世界。', ['你', '好', '，', '世', '界', '。']],
  ['zh', '用ChatGPT 4写12字', ['用', 'ChatGPT', ' ', '4', '写', '12', '字']],
  ['ja', 'きょうは雨', ['き', 'ょ', 'う', 'は', '雨']],
  ['th', 'วันนี้อากาศดีมาก', ['วัน', 'นี้', 'อากาศ', 'ดี', 'มาก']],
  ['km', 'ថ្ងៃនេះអាកាសធាតុល្អណាស់', ['ថ្ងៃនេះ', 'អាកាសធាតុ', 'ល្អ', 'ណាស់']],
  ['my', 'ဒီနေ့ ရာသီဥတု', ['ဒီ', 'နေ့', ' ရာသီဥတု']],
  ['en', ' a well-known 3.14, or 10:30', [' a', ' well-known', ' 3.14', ',', ' or', ' 10:30']],
  ['en', ' U.S. done.Next AT&T—well', [' U.S', '.', ' done', '.', 'Next', ' AT&T', '—', 'well']],
  ['fr', " l'ami (foo) dit", [" l'ami", ' (foo', ')', ' dit']],
  ['en', ' naïve café, no?', [' naïve', ' café', ',', ' no', '?']],
  ['de', ' Überraschung!', [' Überraschung', '!']],
  ['ru', ' привет мир', [' привет', ' мир']],
  ['en', ' fine 👍🏽 then', [' fine', ' 👍🏽', ' then']],
])(`%s: the words of %p are whole when each byte is a token${skipped}`, (language, text, expected) => {
  const ids = byteIds(text)
  expect(tokenizer.decode(ids)).toBe(text)
  const words = tokenizer.words(ids, language)
  expect(words.map(each => each.text)).toEqual(expected)
  expect(words.flatMap(each => each.ids)).toEqual(ids)
})

test.skipIf(!pocket)(`an incomplete character at the end does not lose a token${skipped}`, () => {
  const ids = byteIds(' fin€').slice(0, -1)
  const words = tokenizer.words(ids, 'en')
  expect(words.flatMap(each => each.ids)).toEqual(ids)
  expect(words[0]!.text.startsWith(' fin')).toBe(true)
})

test.skipIf(!pocket).each([
  [" It's two o'clock, isn't it?", [467, 311, 732, 277, 6, 9023, 11, 1943, 380, 309, 30]],
  [' Grüße aus Köln', [38908, 11451, 3437, 591, 13072, 77]],
  ['今天下雨了。', [12074, 4438, 35339, 2289, 1543]],
  [' नमस्ते', [8485, 101, 48521, 45938, 27099, 36158, 21981]],
  [' привет, мир', [33879, 11, 20536]],
  ['مرحبا بالعالم', [29973, 5016, 3555, 995, 20666, 3615, 45340]],
  [' สวัสดี', [220, 13715, 7643, 5981, 13715, 9345, 6033]],
  [' 👍🏽 ok', [36276, 235, 4222, 237, 121, 3133]],
  ['  two  spaces\n', [220, 732, 220, 7673, 198]],
])(`%p has the same tokens as in tiktoken, and they decode to it${skipped}`, (text, ids) => {
  expect(tokenizer.encode(text)).toEqual(ids)
  expect(tokenizer.decode(ids)).toBe(text)
})

test.skipIf(!pocket)(`special tokens and ids outside the vocabulary have no text${skipped}`, () => {
  expect(tokenizer.decode([50258, 50364, 2425, 50400, 50257, 99_999])).toBe(' Hello')
  expect(tokenizer.decode([50258, 50364])).toBe('')
  expect(tokenizer.decode([])).toBe('')
})

const languageCodes = [
  'am',
  'ar',
  'bn',
  'de',
  'el',
  'fa',
  'gu',
  'he',
  'hi',
  'hy',
  'ja',
  'ka',
  'km',
  'ko',
  'lo',
  'my',
]

test.skipIf(!pocket).each(languageCodes)(`%s: an encoded text decodes to itself${skipped}`, code => {
  const names = new Intl.DisplayNames(code, { type: 'language' })
  const text = languageCodes.map(other => names.of(other)).join(', ')
  const ids = tokenizer.encode(text)
  expect(tokenizer.decode(ids)).toBe(text)
  expect(tokenizer.words(ids, code).flatMap(word => word.ids)).toEqual(ids)
})
