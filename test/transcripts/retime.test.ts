import { expect, test } from 'bun:test'
import { withText } from '../../src/transcripts/retime.ts'
import type { Utterance } from '../../src/transcripts/transcript.ts'
import { seeded } from '../support/random.ts'

/** Returns an utterance with the given words. In the text of the utterance, `separator` is between the words. */
function spoken(words: [string, number, number][], separator = ' '): Utterance {
  return {
    start: words[0]?.[1] ?? 0,
    end: words.at(-1)?.[2] ?? 0,
    text: words.map(([word]) => word).join(separator),
    speaker: 'SPEAKER 1',
    confidence: 0.9,
    words: words.map(([word, start, end]) => ({ word, start, end, confidence: 0.8, speaker: 'SPEAKER 1' })),
  }
}

const fox = spoken([
  ['the', 1, 1.1],
  ['quick', 1.1, 1.3],
  ['brown', 1.3, 1.6],
  ['fox', 1.65, 1.9],
  ['jumps', 1.9, 2.2],
])

function timed(original: Utterance, text: string, language = 'en'): [string, number, number][] {
  return withText(original, { original, text, language }).words.map(({ word, start, end }) => [
    word,
    start,
    end,
  ])
}

test.each<[string, string, [string, number, number][]]>([
  [
    'nothing',
    'the quick brown fox jumps',
    [
      ['the', 1, 1.1],
      ['quick', 1.1, 1.3],
      ['brown', 1.3, 1.6],
      ['fox', 1.65, 1.9],
      ['jumps', 1.9, 2.2],
    ],
  ],
  [
    'case and punctuation',
    'The quick, brown fox jumps.',
    [
      ['The', 1, 1.1],
      ['quick,', 1.1, 1.3],
      ['brown', 1.3, 1.6],
      ['fox', 1.65, 1.9],
      ['jumps.', 1.9, 2.2],
    ],
  ],
  [
    'one word',
    'the quick red fox jumps',
    [
      ['the', 1, 1.1],
      ['quick', 1.1, 1.3],
      ['red', 1.3, 1.6],
      ['fox', 1.65, 1.9],
      ['jumps', 1.9, 2.2],
    ],
  ],
  [
    'a word that is removed',
    'the quick fox jumps',
    [
      ['the', 1, 1.1],
      ['quick', 1.1, 1.3],
      ['fox', 1.65, 1.9],
      ['jumps', 1.9, 2.2],
    ],
  ],
  [
    'a word that is added in a pause',
    'the quick brown old fox jumps',
    [
      ['the', 1, 1.1],
      ['quick', 1.1, 1.3],
      ['brown', 1.3, 1.6],
      ['old', 1.6, 1.65],
      ['fox', 1.65, 1.9],
      ['jumps', 1.9, 2.2],
    ],
  ],
  [
    'one word for two',
    'the quick bro wn fox jumps',
    [
      ['the', 1, 1.1],
      ['quick', 1.1, 1.3],
      ['bro', 1.3, 1.471],
      ['wn', 1.471, 1.6],
      ['fox', 1.65, 1.9],
      ['jumps', 1.9, 2.2],
    ],
  ],
  [
    'two places at once',
    'a quick brown cat jumps',
    [
      ['a', 1, 1.1],
      ['quick', 1.1, 1.3],
      ['brown', 1.3, 1.6],
      ['cat', 1.65, 1.9],
      ['jumps', 1.9, 2.2],
    ],
  ],
  [
    'everything',
    'hello you',
    [
      ['hello', 1, 1.72],
      ['you', 1.72, 2.2],
    ],
  ],
  ['everything to nothing', '', []],
])('an edit that changes %s', (_, text, expected) => {
  expect(timed(fox, text)).toEqual(expected)
})

test('a changed word has no confidence, and all words have the speaker of the utterance', () => {
  const utterance = { ...fox, speaker: 'Ann' }
  const { words } = withText(utterance, { original: fox, text: 'the slow fox', language: 'en' })
  expect(words.map(({ confidence, speaker }) => [confidence, speaker])).toEqual([
    [0.8, 'Ann'],
    [null, 'Ann'],
    [0.8, 'Ann'],
  ])
})

test('an utterance without word times gets none', () => {
  const plain = { ...fox, words: [] }
  expect(withText(plain, { original: plain, text: 'new text', language: 'en' })).toMatchObject({
    text: 'new text',
    words: [],
  })
})

test('in a language without spaces, words keep their times up to the first change and from the last', () => {
  const meeting = spoken(
    [
      ['今日', 0, 1],
      ['は', 1, 1.2],
      ['会議', 1.2, 2],
      ['です', 2, 2.5],
      ['。', 2.5, 2.5],
    ],
    '',
  )
  expect(timed(meeting, '今日は試験です。', 'ja')).toEqual([
    ['今日', 0, 1],
    ['は', 1, 1.2],
    ['試験', 1.2, 2],
    ['です', 2, 2.5],
    ['。', 2.5, 2.5],
  ])
})

test('unchanged words beside spaces keep their times in a language that has few spaces', () => {
  const said: [string, number, number][] = [
    ['我', 0, 0.2],
    ['用', 0.2, 0.4],
    ['iPhone', 0.4, 1],
    ['拍', 1.2, 1.4],
    ['照', 1.4, 1.6],
    ['片', 1.6, 1.8],
    ['好', 2, 2.2],
  ]
  const photo = { ...spoken(said), text: '我用 iPhone 拍照片 好' }
  expect(timed(photo, '你用 iPhone 拍照片 好', 'zh')).toEqual([['你', 0, 0.2], ...said.slice(1)])
  expect(timed(photo, '他说：“好！”', 'zh').map(([word]) => word)).toEqual(['他', '说：', '“好！”'])
  expect(timed(photo, '我用 iPhones 拍照片 好', 'zh').map(([word]) => word)[2]).toBe('iPhones')
  const khmer: [string, number, number][] = [
    ['ខ្ញុំ', 0, 0.4],
    ['ទៅ', 0.4, 0.8],
    ['ផ្សារ', 0.8, 1.2],
  ]
  expect(timed(spoken(khmer, ''), 'ខ្ញុំមកផ្សារ', 'km').map(([word]) => word)).toEqual(['ខ្ញុំ', 'មក', 'ផ្សារ'])
})

test('a French mark after a space stays with its word', () => {
  const french = spoken([
    ['Alors', 0, 0.5],
    ['« quoi ?', 0.5, 1],
    ['Rien !', 1, 1.5],
  ])
  const edited = timed(french, 'Alors « quoi ? Presque rien !', 'fr')
  expect(edited.map(([word]) => word)).toEqual(['Alors', '« quoi ?', 'Presque', 'rien !'])
  const both = timed(french, 'Bon « quoi ? Tout !', 'fr')
  expect(both.map(([word]) => word)).toEqual(['Bon', '« quoi ?', 'Tout !'])
})

test('a mark that is added beside an unchanged word is joined to it, and the word keeps its times', () => {
  const french = spoken([
    ['Tu', 0, 0.5],
    ['viens', 0.5, 1],
  ])
  expect(timed(french, 'Tu viens ?', 'fr')).toEqual([
    ['Tu', 0, 0.5],
    ['viens ?', 0.5, 1],
  ])
  expect(timed(french, 'Tu « viens', 'fr').map(([word]) => word)).toEqual(['Tu', '« viens'])
  const chinese = spoken(
    [
      ['你好', 0, 0.5],
      ['世界', 0.5, 1],
    ],
    '',
  )
  expect(timed(chinese, '你好，世界', 'zh')).toEqual([
    ['你好，', 0, 0.5],
    ['世界', 0.5, 1],
  ])
  expect(timed(chinese, '你好「世界', 'zh').map(([word]) => word)).toEqual(['你好', '「世界'])
})

test('words without a space between them keep their times, and the original text gives the original words', () => {
  const said: [string, number, number][] = [
    ['well', 0, 0.3],
    ['quite—', 0.3, 0.6],
    ['no', 0.6, 0.9],
  ]
  const original = { ...spoken(said), text: 'well quite—no' }
  expect(timed(original, 'oh quite—no')).toEqual([['oh', 0, 0.3], ...said.slice(1)])
  const edited = withText(original, { original, text: 'gone', language: 'en' })
  expect(withText(edited, { original, text: original.text, language: 'en' })).toEqual(original)
})

test('a new word that ends with an old word, and a text that lacks one of two equal words, have their own words', () => {
  const cat = spoken([['cat', 1, 2]])
  expect(timed(cat, 'bobcat').map(([word]) => word)).toEqual(['bobcat'])
  const twice = spoken([
    ['no', 1, 2],
    ['no', 2, 3],
  ])
  expect(timed(twice, 'no').map(([word]) => word)).toEqual(['no'])
  expect(timed({ ...cat, text: 'a cat' }, 'a cat')).toEqual([['cat', 1, 2]])
})

test('random edits keep the order of times inside the utterance, and the words of the text', () => {
  const random = seeded(3)
  const vocabulary = 'the quick brown fox jumps over a lazy dog'.split(' ')
  for (let round = 0; round < 2000; round++) {
    const text = Array.from({ length: random.below(9) }, () => random.pick(vocabulary)).join(' ')
    const { words } = withText(fox, { original: fox, text, language: 'en' })
    expect(words.map(({ word }) => word).join(' ')).toBe(text)
    const times = words.flatMap(({ start, end }) => [start, end])
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(times.every(time => time >= fox.start && time <= fox.end)).toBe(true)
  }
})

test('in an edit of thousands of words, words are not compared one with another: all get new times', () => {
  const words = (count: number, offset: number) =>
    Array.from({ length: count }, (_, at) => `w${(at * 7 + offset) % 5000}`)
  const long = spoken(words(5000, 0).map((word, at) => [word, at, at + 1]))
  const edited = withText(long, { original: long, text: words(5000, 3).join(' '), language: 'en' })
  expect(edited.words).toHaveLength(5000)
  expect(edited.words.filter(({ confidence }) => confidence !== null)).toEqual([])
})
