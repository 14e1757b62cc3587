import { expect, spyOn, test } from 'bun:test'
import { PhraseFinder } from '../../src/transcripts/find-phrases.ts'
import { indexedWords, type Phrase, phrasesOf } from '../../src/transcripts/search-words.ts'
import { seeded } from '../support/random.ts'

/** Returns the text of each match of the query in `text`. Overlapping matches are joined into one text. */
function found(text: string, query: string): string[] {
  return new PhraseFinder(phrasesOf(query)).find(text).map(({ from, to }) => text.slice(from, to))
}

test.each([
  ['Guten Morgen, Frau Weiß!', 'weiss', ['Weiß']],
  ['WEISS', 'weiß', ['WEISS']],
  ['Der Zug fährt.', 'FAHRT', ['fährt']],
  ['cafe\u0301 noir', 'café', ['cafe\u0301']],
  ['İstanbul', 'istanbul', ['İstanbul']],
  ['Işık ve IRMAK', 'ışık ırmak', ['Işık', 'IRMAK']],
  ['Łódź, Đà Nẵng, TROMSØ', 'lodz "da nang" tromsø', ['Łódź', 'Đà Nẵng', 'TROMSØ']],
  ['ὁ λόγος', 'ΛΟΓΟΣ', ['λόγος']],
  ['東京都庁で会議が行われた。', '会議', ['会議']],
  ['東京都庁で会議が行われた。', '議会', []],
  ['ｆｕｌｌ width', 'full', ['ｆｕｌｌ']],
  ['ｽｰﾊﾟｰで買う', 'スーパー', ['ｽｰﾊﾟｰ']],
  ['スーパーで買う', 'ｽｰﾊﾟｰ', ['スーパー']],
  ['ｶﾞｽ', 'ガ', ['ｶﾞ']],
  ['안녕하세요 세계', '세계', ['세계']],
  ['हिन्दी में', 'हिन्दी', ['हिन्दी']],
  ['हिन्दी में', 'हन्द', []],
  ['ยินดีต้อนรับ', 'ต้อนรับ', ['ต้อนรับ']],
  // A straight (') and a curly apostrophe (’) are equal in a search: both divide `don't` into the words `don` and `t`.
  ['I don’t know, do I?', "don't", ['don’t']],
  ['I don’t know, do I?', 'don’t', ['don’t']],
  ['one two one three', 'one', ['one', 'one']],
  ['one two one three', '"one three"', ['one three']],
  ['one two three', '"one two" "two three"', ['one two three']],
  ['a b c', '"a b" c', ['a b', 'c']],
  ['say “hello world” now', '“hello world” now', ['hello world', 'now']],
  ['it is 3.5 kg', '3.5', ['3.5']],
  ['twenty-one', 'twenty one', ['twenty', 'one']],
])('in %p the query %p finds %p', (text, query, expected) => {
  expect(found(text, query)).toEqual(expected)
})

test.each([
  ['a a a a', '"a a"', 3, ['a a a a']],
  ['a b a b a c', '"a b a"', 2, ['a b a b a']],
  ['a a b a a a b', '"a a b"', 2, ['a a b', 'a a b']],
  ['a b a b a b c', '"a b a b c"', 1, ['a b a b c']],
])('in %p the phrase %p is found at each place, %p times', (text, query, count, expected) => {
  expect(new PhraseFinder(phrasesOf(query)).count(text)).toEqual([count])
  expect(found(text, query)).toEqual(expected)
})

test('several phrases are found as one after the other, also if they overlap', () => {
  const random = seeded(20_261_129)
  const words = (count: number) => Array.from({ length: count }, () => 'abc'[Math.floor(random.next() * 3)]!)
  for (let round = 0; round < 300; round++) {
    const phrases = Array.from({ length: 5 }, () => words(1 + Math.floor(random.next() * 4)))
    const text = words(20)
    const counts = phrases.map(
      phrase => text.filter((_, at) => phrase.every((word, index) => text[at + index] === word)).length,
    )
    expect(new PhraseFinder(phrases).count(text.join(' '))).toEqual(counts)
  }
})

const letters = [...'abcdefghijklmnopqrstuvwxyz']
const pairs: Phrase[] = letters.flatMap(one => letters.map(other => [`${one}${other}`]))
const costly: [string, Phrase[], string][] = [
  ['a phrase that repeats a word', [Array(200).fill('a')], `${'a '.repeat(199)}b `.repeat(25)],
  ['many words', pairs.slice(0, 200), pairs.join(' ').repeat(8)],
  ['many phrases that begin alike', letters.map(letter => ['a', 'a', 'a', letter]), 'a '.repeat(5000)],
]

test.each(costly)('a search with %s looks up each word of a text only a few times', (_, phrases, text) => {
  const finder = new PhraseFinder(phrases)
  using lookUp = spyOn(Map.prototype, 'get')
  finder.count(text)
  const looked = lookUp.mock.calls.length
  const words = text.trim().split(' ').length
  expect(looked).toBeGreaterThanOrEqual(words)
  expect(looked).toBeLessThanOrEqual(2 * words)
})

test('a query without a letter or a digit has no phrase', () => {
  for (const query of ['', '   ', '"', '""', '"""', '* ( ) : - ^ + ,', '\0', '“”', '。、'])
    expect(phrasesOf(query)).toEqual([])
})

test('the operators of FTS5 are words like any other', () => {
  expect(phrasesOf('NEAR(a b) AND text:x* OR -y')).toEqual([
    ['near', 'a'],
    ['b'],
    ['and'],
    ['text', 'x'],
    ['or'],
    ['y'],
  ])
})

test('the index stores folded words, with a space between the characters of unspaced scripts', () => {
  expect(indexedWords('Die Straßenbahn fährt um 8:30, 東京で。').join(' ')).toBe(
    'die strassenbahn fahrt um 8 30 東 京 て\u3099'.normalize('NFC'),
  )
})
