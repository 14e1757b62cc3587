import { expect, test } from 'bun:test'
import { decodeCtc } from '../../../src/engine/framewise/ctc-greedy.ts'
import { languagesByKind, lettersOf } from '../../../src/engine/framewise/languages.ts'
import { isForeign, withLetters } from '../../../src/engine/framewise/script.ts'
import type { TdtDecoder } from '../../../src/engine/framewise/tdt-decoder.ts'
import { decodeTdt } from '../../../src/engine/framewise/tdt-greedy.ts'
import { parseTokens } from '../../../src/engine/framewise/tokens.ts'
import { wordsOf } from '../../../src/engine/framewise/words.ts'
import { languages } from '../../../src/languages.ts'
import { seeded } from '../../support/random.ts'

const tokens = ['a', 'b', 'c', 'd', '<blk>']
const blank = 4

/**
 * A fake decoder. Its scores are pseudo-random numbers, which depend only on the frame, the last token and the state.
 */
const decoder: TdtDecoder = {
  scores: tokens.length + 5,
  emptyState: () => [Float32Array.of(0)],
  step: steps =>
    steps.map(({ frame, token, state }) => {
      const seed = 1000 * (frame[0] ?? 0) + 100 * token + (state[0]?.[0] ?? 0)
      const random = seeded(seed + 1)
      const scores = Float32Array.from({ length: tokens.length + 5 }, () => random.next())
      return { scores, state: [Float32Array.of(seed % 97)] }
    }),
  close: () => {},
}

/**
 * Decodes one recording greedily with a TDT (token-and-duration transducer) model, in the simplest way and without
 * batches. For each frame, the model predicts a token and the number of frames to skip.
 */
function defined(first: number, count: number, perFrame: number): string {
  let [at, emitted, last, state, text] = [0, 0, blank, 0, '']
  while (at < count) {
    const [answer] = decoder.step([
      { frame: Float32Array.of(first + at), token: last, state: [Float32Array.of(state)] },
    ])
    const scores = [...(answer?.scores ?? [])]
    const best = (part: number[]) => part.indexOf(Math.max(...part))
    const [token, duration] = [best(scores.slice(0, tokens.length)), best(scores.slice(tokens.length))]
    if (token !== blank) {
      text += `${tokens[token]}${at} `
      state = answer?.state[0]?.[0] ?? 0
      last = token
      emitted++
    }
    if (duration > 0) [at, emitted] = [at + duration, 0]
    else if (token === blank || emitted === perFrame) [at, emitted] = [at + 1, 0]
  }
  return text
}

test('windows decoded in one batch have the tokens of the definition, each for itself', () => {
  const counts = [40, 0, 1, 17, 33, 25]
  const encoded = counts.map((count, row) => ({
    values: Float32Array.from({ length: count }, (_, at) => 100 * row + at),
    count,
    width: 1,
  }))
  const decoded = decodeTdt(decoder, encoded, { tokens, permitted: null, blank, perFrame: 3 })
  const shown = decoded.map(row => row.map(({ text, from }) => `${text}${from / 4} `).join(''))
  expect(shown).toEqual(counts.map((count, row) => defined(100 * row, count, 3)))
})

test('a decoder that never moves on gives the maximum of tokens for each frame, within the sound', () => {
  let left = 20
  const stuck = (token: number, duration: number): TdtDecoder => ({
    ...decoder,
    step: steps =>
      steps.map(({ state }) => {
        // Without this limit, a faulty `decodeTdt` would call the decoder for ever.
        if (left-- === 0) throw new Error('the decoder is asked without end')
        const scores = new Float32Array(tokens.length + 5)
        scores[token] = 1
        scores[tokens.length + duration] = 1
        return { scores, state }
      }),
  })
  const window = { values: new Float32Array(3), count: 3, width: 1 }
  const decode = (model: TdtDecoder, names = tokens) =>
    decodeTdt(model, [window], { tokens: names, permitted: null, blank, perFrame: 2 })[0]?.map(
      ({ from, to }) => [from, to],
    )
  expect(decode(stuck(0, 0))).toEqual([0, 0, 4, 4, 8, 8].map(from => [from, from + 4]))
  expect(decode(stuck(0, 2))).toEqual([
    [0, 8],
    [8, 12],
  ])
  expect(decode(stuck(0, 1), ['<unk>', ...tokens.slice(1)])).toEqual([])
})

test('a control token of a CTC model has no text', () => {
  const values = Float32Array.of(0, 1, 0, 0, 0, 1)
  expect(
    decodeCtc({ values, frames: 2, count: 3 }, ['<s>', '<unk>', 'a'], null).map(({ text }) => text),
  ).toEqual(['a'])
})

test('a text is foreign if more than half of its letters are of another script, and marks alone are no text', () => {
  expect(['ab д', 'a дд', '.', ''].map(text => isForeign(text, 'en'))).toEqual([false, true, false, false])
  const marks = [{ text: '.', from: 0, to: 1, probability: 1 }]
  expect(withLetters(marks)).toEqual([])
})

test('a vocabulary is one token and its number in each line; a line without a token is the space', () => {
  expect(parseTokens('<s> 0\n 1\n2\n▁the 3\n▁ 4\n', 'tokens.txt')).toEqual(['<s>', ' ', ' ', ' the', ' '])
  expect(() => parseTokens('a 0\nb 2\n', 'x/tokens.txt')).toThrow('x/tokens.txt has no token 1')
  expect(() => parseTokens('', 'x/tokens.txt')).toThrow('x/tokens.txt has no token 0')
  expect(() => parseTokens('a 0\nb\n', 'x/tokens.txt')).toThrow('line 2')
})

test('the languages of framewise models are among those of steno, and their scripts are known', () => {
  for (const code of [...languagesByKind.ctc, ...languagesByKind.tdt]) {
    expect(languages).toContain(code)
    expect([code, lettersOf(code)]).not.toContain(null)
  }
  const lacking = languages.filter(code => !languagesByKind.ctc.includes(code))
  expect(lacking).toEqual(['nn', 'sa'])
})

test.each([
  ['or', 'ଓଡ଼ିଆ', 'o'],
  ['ckb', 'کوردی', 'k'],
  ['ky', 'кыргыз', 'k'],
  ['zu', 'isiZulu', 'з'],
  ['jv', 'Basa Jawa', 'ꦧ'],
  ['ja', '日本ひらカタデータ', 'j'],
  ['en', 'data', 'ー'],
  ['ar', 'العـربية', 'a'],
  ['uz', 'oʻzbek', 'ў'],
  ['ko', '한국어', 'k'],
])('the letters of %s are those of its script', (language, own, other) => {
  const letters = lettersOf(language)
  expect([...own].filter(each => /\p{Letter}/u.test(each) && !letters?.test(each))).toEqual([])
  expect(letters?.test(other)).toBe(false)
})

test.each([
  ['km', 'ថ្ងៃនេះ អាកាសធាតុល្អណាស់។ ', ['ថ្ងៃនេះ 0-7', ' អាកាសធាតុ 8-17', 'ល្អ 17-20', 'ណាស់។ 20-25']],
  ['th', 'อากาศดี มากครับ', ['อากาศ 0-5', 'ดี 5-7', ' มาก 8-11', 'ครับ 11-15']],
  ['th', ' ', []],
  ['ja', '日本', ['日 0-1', '本 1-2']],
  ['zh', '用pc 12个', ['用 0-1', 'pc 1-3', ' 12 4-6', '个 6-7']],
])(
  '%s: the letters of %j become whole words, as far as its script shows them',
  (language, text, expected) => {
    const letters = [...text].map((text, at) => ({ text, from: at, to: at + 1, probability: 0.5 }))
    const words = wordsOf(letters, language)
    expect(words.map(({ text, from, to }) => `${text} ${from}-${to}`)).toEqual(expected)
  },
)
