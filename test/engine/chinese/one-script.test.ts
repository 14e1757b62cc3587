import { expect, test } from 'bun:test'
import { OneScript } from '../../../src/engine/chinese/one-script.ts'
import type { PlacedText } from '../../../src/engine/hear/place.ts'

const noContext = { prompt: null, vocabulary: [] }

/** Words of one character each, as Whisper returns them for Chinese. A pause follows each comma. */
function wordsOf(text: string): PlacedText[] {
  return Array.from(text, (character, at) => ({
    text: character,
    from: 100 * at,
    to: 100 * at + (character === '，' ? 20 : 100),
    probability: at / 100,
  }))
}

async function unify(script: OneScript, text: string, language = 'zh'): Promise<string> {
  const words = await script.unify(wordsOf(text), language)
  return words.map(word => word.text).join('')
}

test('all texts of a recording get the script of most characters of the first texts', async () => {
  const simplified = new OneScript(noContext)
  expect(await unify(simplified, '这里说的是简体，後來')).toBe('这里说的是简体，后来')
  expect(await unify(simplified, '這裡說的是繁體，後來')).toBe('这里说的是繁体，后来')
  const traditional = new OneScript(noContext)
  expect(await unify(traditional, '這裡說的是繁體，后来')).toBe('這裡說的是繁體，後來')
  expect(await unify(traditional, '这里说的是简体，后来')).toBe('這裡說的是簡體，後來')
})

test('texts that do not show their script leave the choice to later texts', async () => {
  const script = new OneScript(noContext)
  expect(await unify(script, '大家好')).toBe('大家好')
  expect(await unify(script, '這这')).toBe('這这')
  expect(await unify(script, '這是繁體')).toBe('這是繁體')
  expect(await unify(script, '这是简体')).toBe('這是簡體')
})

/**
 * Calls `unify` for a simplified text and for a traditional text. Each text has its own `OneScript`, as if it were from
 * a separate recording, so the first text does not influence the second. Returns both results.
 */
async function unifyBoth(prompt: string | null, vocabulary: string[]): Promise<string[]> {
  const texts = ['这里说的', '這裡說的']
  return Promise.all(texts.map(text => unify(new OneScript({ prompt, vocabulary }), text)))
}
const bothSimplified = ['这里说的', '这里说的']
const bothTraditional = ['這裡說的', '這裡說的']
const bothUnchanged = ['这里说的', '這裡說的']

test('the prompt decides the script', async () => {
  expect(await unifyBoth('以下是普通話的句子。', [])).toEqual(bothTraditional)
  expect(await unifyBoth('以下是普通话的句子。', ['繁體'])).toEqual(bothSimplified)
  expect(await unifyBoth('大家好', ['steno'])).toEqual(bothUnchanged)
})

test('a term of the vocabulary that names a script decides it, in both scripts', async () => {
  for (const term of ['简体', '簡體', '简体中文', ' 简体字 '])
    expect(await unifyBoth('大家好', ['steno', '東京', term])).toEqual(bothSimplified)
  for (const term of ['繁體', '繁体', '正體', '繁體中文', '正體字'])
    expect(await unifyBoth(null, ['国家', term])).toEqual(bothTraditional)
})

test('other terms of the vocabulary do not decide the script of texts that show their own', async () => {
  for (const vocabulary of [['周杰倫'], ['東京'], ['Dr. 陳'], ['国家'], ['立體聲', '正體經']])
    expect(await unifyBoth(null, vocabulary)).toEqual(bothUnchanged)
  const later = new OneScript({ prompt: null, vocabulary: ['東京'] })
  expect(await unify(later, '大家好')).toBe('大家好')
  expect(await unify(later, '这里说的')).toBe('这里说的')
})

test('the vocabulary decides the script of a text with equally many characters of both scripts', async () => {
  const script = new OneScript({ prompt: null, vocabulary: ['東京'] })
  expect(await unify(script, '這这')).toBe('這這')
  expect(await unify(script, '这里说的')).toBe('這裡說的')
})

test('a word keeps its times and its probability, and may have several characters', async () => {
  const script = new OneScript(noContext)
  await unify(script, '这里说的是简体')
  const words = [
    { text: ' OK，', from: 10, to: 20, probability: 0.5 },
    { text: '頭髮', from: 20, to: 40, probability: null },
    { text: '後來', from: 40, to: 90, probability: 0.9 },
  ]
  expect(await script.unify(words, 'zh')).toEqual([
    { text: ' OK，', from: 10, to: 20, probability: 0.5 },
    { text: '头发', from: 20, to: 40, probability: null },
    { text: '后来', from: 40, to: 90, probability: 0.9 },
  ])
})

test('words of other languages do not change', async () => {
  const script = new OneScript({ prompt: '简体', vocabulary: [] })
  for (const language of ['yue', 'ja', 'ko', 'en'])
    expect(await unify(script, '後來変長', language)).toBe('後來変長')
})

test('each word keeps its characters, also after a character outside the Basic Multilingual Plane', async () => {
  const texts = ['𠮷', '这里', '，', '後來']
  const words = texts.map((text, at) => ({ text, from: at, to: at + 1, probability: 1 }))
  const unified = await new OneScript(noContext).unify(words, 'zh')
  expect(unified.map(({ text }) => text)).toEqual(['𠮷', '這裡', '，', '後來'])
})
