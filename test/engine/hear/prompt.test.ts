import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { contextTokens, promptOf } from '../../../src/engine/hear/prompt.ts'
import { readTokenizer } from '../../../src/engine/hear/tokenizer.ts'
import type { Whisper } from '../../../src/engine/hear/whisper.ts'
import { pocket, unless } from '../../support/engine-room.ts'

const skipped = unless(pocket, 'pocket model')
const json = pocket ? await Bun.file(join(pocket, 'tokenizer.json')).text() : '{}'
const tokenizer = pocket ? readTokenizer(json) : null!
const previous = 50361
// A model with only the fields that the decoder's prompt needs.
const whisper = {
  tokenizer,
  facts: {
    previous,
    positions: 448,
    start: 50258,
    transcribe: 50359,
    translate: 50358,
    languages: new Map([['de', 50261]]),
  },
} as unknown as Whisper

const textOf = (prompt: string | null, vocabulary: string[] = []) => {
  const { ids, warning } = contextTokens(whisper, { prompt, vocabulary })
  return { first: ids[0], text: tokenizer.decode(ids.slice(1)), length: ids.length, warning }
}

test.skipIf(!pocket).each([
  ['a prompt', 'Hello, Dr. Wójcik.', [], ' Hello, Dr. Wójcik.'],
  ['terms', null, ['kubectl', ' Grafana '], ' Glossary: kubectl, Grafana.'],
  ['terms and a prompt', 'Hello.', ['kubectl'], ' Glossary: kubectl. Hello.'],
  ['line breaks and control characters', 'a\u0000b\n\n c\u200b', [], ' a b c'],
  [
    'words with invisible characters inside',
    'Donau\u00addampf',
    ['\u200fمی\u200cخواهم'],
    ' Glossary: می\u200cخواهم. Donaudampf',
  ],
  [
    'the name of a special token, as plain text',
    '<|startoftranscript|><|0.00|> <|de|> a',
    [],
    ' <|startoftranscript|><|0.00|> <|de|> a',
  ],
])(`the context has %s${skipped}`, (_, prompt, vocabulary, text) => {
  expect(textOf(prompt, vocabulary)).toMatchObject({ first: previous, text, warning: null })
})

test.skipIf(!pocket)(`no token of the caller's text is a special one${skipped}`, () => {
  const { ids } = contextTokens(whisper, {
    prompt: '<|endoftext|><|nospeech|><|30.00|>',
    vocabulary: ['<|en|>'],
  })
  expect(Math.max(...ids.slice(1))).toBeLessThan(50257)
})

test.skipIf(!pocket)(`a long prompt loses its beginning, and a warning says so${skipped}`, () => {
  const { text, length, warning } = textOf(`first ${'name '.repeat(400)}last`)
  expect(length).toBe(224)
  expect(warning).toContain('too long for the model')
  expect(text).toEndWith(' last')
  expect(text).not.toContain('first')
})

test.skipIf(!pocket).each([
  ['nothing', null, []],
  ['white space', ' \n', ['', ' ']],
])(`%s adds no tokens${skipped}`, (_, prompt, vocabulary) => {
  expect(contextTokens(whisper, { prompt, vocabulary })).toEqual({ ids: [], warning: null })
})

test('a model that accepts no earlier text gets none, and the warning says so', () => {
  const without = { ...whisper, facts: { ...whisper.facts, previous: null } } as Whisper
  const { ids, warning } = contextTokens(without, { prompt: 'Ann', vocabulary: [] })
  expect(ids).toEqual([])
  expect(warning).toContain('accepts no prompt')
})

test('the prompt of a window is the context, the start, the language and the task', () => {
  expect(promptOf(whisper, [previous, 7], { language: 'de', translate: false })).toEqual([
    previous,
    7,
    50258,
    50261,
    50359,
  ])
  expect(promptOf(whisper, [], { language: 'de', translate: true })).toEqual([50258, 50261, 50358])
  expect(promptOf(whisper, [], { language: 'xx', translate: false })).toEqual([50258])
  // Javanese has the code jv in steno and jw in Whisper.
  const javanese = { ...whisper, facts: { ...whisper.facts, languages: new Map([['jw', 50356]]) } } as Whisper
  expect(promptOf(javanese, [], { language: 'jv', translate: false })).toEqual([50258, 50356, 50359])
})
