import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { readTokenizer } from '../../../src/engine/hear/tokenizer.ts'
import { pocket, unless } from '../../support/engine-room.ts'

const skipped = unless(pocket, 'pocket model')
const json = pocket ? await Bun.file(join(pocket, 'tokenizer.json')).text() : '{}'
const tokenizer = pocket ? readTokenizer(json) : null!

/** One token for each byte, which splits every character that has more than one. */
function byteIds(text: string): number[] {
  const vocabulary = (JSON.parse(json) as { model: { vocab: Record<string, number> } }).model.vocab
  const ids = new Map<number, number>()
  for (const id of Object.values(vocabulary)) {
    const bytes = Buffer.from(tokenizer.decode([id]), 'utf8')
    if (bytes.length === 1) ids.set(bytes[0]!, id)
  }
  // A byte above 127 is no character alone. In the vocabulary it is a character of GPT-2's alphabet, where bytes that
  // cannot be printed have the characters from 256 on; 33 of them are below 127.
  const printable = (byte: number) => (byte >= 161 && byte <= 172) || byte >= 174
  let next = 256 + 33
  for (let byte = 127; byte < 256; byte++) {
    const character = String.fromCharCode(printable(byte) ? byte : next++)
    if (byte >= 128) ids.set(byte, vocabulary[character]!)
  }
  return [...Buffer.from(text)].map(byte => ids.get(byte)!)
}

test.skipIf(!pocket).each([
  ['zh', '你好，世界。', ['你', '好', '，', '世', '界', '。']],
  ['ja', 'きょうは雨', ['き', 'ょ', 'う', 'は', '雨']],
  ['th', 'ไทย', ['ไ', 'ท', 'ย']],
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

test.skipIf(!pocket)(`an incomplete character at the end loses no token${skipped}`, () => {
  const ids = byteIds(' fin€').slice(0, -1)
  const words = tokenizer.words(ids, 'en')
  expect(words.flatMap(each => each.ids)).toEqual(ids)
  expect(words[0]!.text.startsWith(' fin')).toBe(true)
})
