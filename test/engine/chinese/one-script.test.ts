import { expect, test } from 'bun:test'
import { OneScript } from '../../../src/engine/chinese/one-script.ts'
import type { PlacedText } from '../../../src/engine/hear/place.ts'

const noContext = { prompt: null, vocabulary: [] }

/** Words of one character each, as Whisper returns them for Chinese. Each comma is a pause. */
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

test('the prompt or the vocabulary of the caller decides the script', async () => {
  const byPrompt = new OneScript({ prompt: '以下是普通話的句子。', vocabulary: [] })
  expect(await unify(byPrompt, '这里说的是简体')).toBe('這裡說的是簡體')
  const byVocabulary = new OneScript({ prompt: null, vocabulary: ['steno', '简体'] })
  expect(await unify(byVocabulary, '這裡說的是繁體')).toBe('这里说的是繁体')
  const byNeither = new OneScript({ prompt: '大家好', vocabulary: ['steno'] })
  expect(await unify(byNeither, '這裡說的是繁體')).toBe('這裡說的是繁體')
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
