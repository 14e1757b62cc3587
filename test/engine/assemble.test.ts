import { expect, test } from 'bun:test'
import { assemble } from '../../src/engine/assemble.ts'
import { sampleRate } from '../../src/engine/audio.ts'
import type { PlacedText } from '../../src/engine/hear/place.ts'
import { groupWords } from '../../src/engine/utterances.ts'
import { UtterancesSoFar } from '../../src/engine/utterances-so-far.ts'

/**
 * Returns the words of a text with their times. Each word lasts half a second, without pauses between words. A `/` in
 * the text is a pause of two seconds.
 */
function wordsOf(text: string, from = 0): PlacedText[] {
  let at = from
  const words: PlacedText[] = []
  for (const word of text.split(/(?<=\S)(?= )/)) {
    const pause = word.trim() === '/'
    if (!pause)
      words.push({ text: word, from: at * sampleRate, to: (at + 0.5) * sampleRate, probability: 0.9 })
    at += pause ? 2 : 0.5
  }
  return words
}

const facts = { language: 'en', samples: 60 * sampleRate, align: true, timeline: null }
const texts = (words: readonly PlacedText[], change: Partial<typeof facts> = {}) =>
  assemble(words, { ...facts, ...change }).transcript.utterances.map(({ text }) => text)

test.each([
  [' One two. Three four! Five?', ['One two.', 'Three four!', 'Five?']],
  [' Before / after the pause', ['Before', 'after the pause']],
  [' Mr. Smith met Dr. Brown. They spoke.', ['Mr. Smith met Dr. Brown.', 'They spoke.']],
  [' She said "go." Then he went.', ['She said "go."', 'Then he went.']],
  [' J. S. Bach wrote it.', ['J. S. Bach wrote it.']],
  [' वह गया। मैं आया।', ['वह गया।', 'मैं आया।']],
  [' وہ گیا۔ کیوں؟ ہاں', ['وہ گیا۔', 'کیوں؟', 'ہاں']],
  [' ወደ ቤት ሄደ። መጣ።', ['ወደ ቤት ሄደ።', 'መጣ።']],
])('an utterance is a sentence, or the speech between two pauses: %s', (text, expected) => {
  expect(texts(wordsOf(text))).toEqual(expected)
})

test('the words of two speakers are in two utterances', () => {
  const words = wordsOf(' one two three').map((word, at) => ({ ...word, speaker: at < 2 ? 0 : 1 }))
  expect(groupWords(words).map(group => group.map(({ text }) => text))).toEqual([
    [' one', ' two'],
    [' three'],
  ])
})

test('speech without a pause is split after half a minute', () => {
  const words = wordsOf(' word'.repeat(100))
  const { utterances } = assemble(words, facts).transcript
  expect(utterances.length).toBe(2)
  expect(utterances.every(({ start, end }) => end - start <= 30)).toBe(true)
  expect(utterances.flatMap(({ words }) => words).length).toBe(100)
})

test.each(['zh', 'ja', 'th', 'yue'])('sentences in %s are split, and joined without spaces', language => {
  const words = ['你', '好。', '再', '见。'].map((text, index) => ({
    text,
    from: index * sampleRate,
    to: (index + 1) * sampleRate,
    probability: 0.5,
  }))
  const { transcript } = assemble(words, { ...facts, language })
  expect(transcript.utterances.map(({ text }) => text)).toEqual(['你好。', '再见。'])
  expect(transcript.full_transcript).toBe('你好。再见。')
  expect(transcript.utterances[0]!.words.map(({ word }) => word)).toEqual(['你', '好。'])
})

test('in a language without spaces, two utterances of Latin letters are joined with a space', () => {
  const words = ['Okay.', ' Let us start.', '好。', 'Café', ' 100', ' 100', '次。'].map((text, index) => ({
    text,
    from: 2 * index * sampleRate,
    to: (2 * index + 0.5) * sampleRate,
    probability: 0.5,
  }))
  const { full_transcript } = assemble(words, { ...facts, language: 'zh' }).transcript
  expect(full_transcript).toBe('Okay. Let us start.好。Café 100 100次。')
})

test('for any input, times increase, are inside the recording and have a duration', () => {
  const odd: PlacedText[] = [
    { text: ' one', from: 5 * sampleRate, to: 4 * sampleRate, probability: 1 },
    { text: ' two', from: 3 * sampleRate, to: 6 * sampleRate, probability: 1 },
    { text: '  ', from: 0, to: sampleRate, probability: 1 },
    { text: ' three', from: 59 * sampleRate, to: 70 * sampleRate, probability: 1 },
    { text: ' four', from: 60 * sampleRate, to: 60 * sampleRate, probability: 1 },
    { text: ' five', from: 72 * sampleRate, to: 71 * sampleRate, probability: 1 },
  ]
  const words = assemble(odd, facts).transcript.utterances.flatMap(({ words }) => words)
  expect(words.map(({ word }) => word)).toEqual(['one', 'two', 'three', 'four', 'five'])
  let before = 0
  for (const { start, end } of words) {
    expect(start).toBeGreaterThanOrEqual(before)
    expect(end).toBeGreaterThan(start)
    before = end
  }
  expect(before).toBeLessThanOrEqual(60)
  // Times change only as far as necessary: the words stay in order, and each word lasts at least 0.01 s.
  expect(words.map(({ start, end }) => [start, end])).toEqual([
    [5, 5.01],
    [5.01, 6],
    [59, 59.98],
    [59.98, 59.99],
    [59.99, 60],
  ])
})

const placed = (text: string, from: number, to: number): PlacedText => ({
  text,
  from: from * sampleRate,
  to: to * sampleRate,
  probability: 0.9,
})

test('no word begins before the start of a recording that is too short for its words', () => {
  const words = [' one', ' two', ' three'].map(text => placed(text, 5, 6))
  const { transcript } = assemble(words, { ...facts, samples: 0.02 * sampleRate })
  expect(transcript.utterances.flatMap(({ words }) => words.map(({ start, end }) => [start, end]))).toEqual([
    [0, 0],
    [0, 0.01],
    [0.01, 0.02],
  ])
})

test.each([
  ['a pause of 1.2 s ends an utterance', [placed(' one', 0, 2), placed(' two', 3.2, 4)], ['one', 'two']],
  [
    'a shorter pause does not end an utterance',
    [placed(' one', 0, 2), placed(' two', 3.199, 4)],
    ['one two'],
  ],
  ['a long word is no pause', [placed(' one', 0, 2), placed(' two', 2, 4)], ['one two']],
  [
    'a word that ends after 30 s is not added',
    [placed(' one', 0, 29.5), placed(' two', 29.5, 30.1)],
    ['one', 'two'],
  ],
  ['spaces and line breaks become one space', [placed(' one', 0, 1), placed(' \n two ', 1, 2)], ['one two']],
])('%s', (_, words, expected) => {
  expect(texts(words)).toEqual(expected)
})

test('in a language without spaces, the spaces of the model stay', () => {
  expect(texts([placed('そう', 0, 1), placed('\u3000です', 1, 2)], { language: 'ja' })).toEqual([
    'そう\u3000です',
  ])
})

test('a confidence has three decimal places', () => {
  const [one, two] = wordsOf(' one two.') as [PlacedText, PlacedText]
  one.probability = 0.12345
  expect(assemble([one, two], facts).transcript.utterances[0]).toMatchObject({
    confidence: 0.512,
    words: [{ confidence: 0.123 }, { confidence: 0.9 }],
  })
})

test.each([
  ['hi', [' वह', ' गया।', ' मैं', ' आया।'], ['वह गया।', 'मैं आया।']],
  ['ar', [' أين', ' هو؟', ' هنا.'], ['أين هو؟', 'هنا.']],
  ['ja', ['「は', 'い。」', 'そう', 'です。'], ['「はい。」', 'そうです。']],
])('words in %s are split at the ends of sentences', (language, words, expected) => {
  const placed = words.map((text, index) => ({
    text,
    from: index * sampleRate,
    to: (index + 1) * sampleRate,
    probability: 0.8,
  }))
  expect(texts(placed, { language })).toEqual(expected)
})

test('the text is the same with and without words', () => {
  const words = wordsOf(' one two. three four.')
  const without = assemble(words, { ...facts, align: false }).transcript
  const withWords = assemble(words, facts).transcript
  expect(without).toEqual({
    ...withWords,
    utterances: withWords.utterances.map(each => ({ ...each, words: [] })),
  })
})

test('confidence is the mean of the words, and null when the words have none', () => {
  const words = wordsOf(' one two.')
  words[0]!.probability = 0.5
  expect(assemble(words, facts).transcript.utterances[0]!.confidence).toBe(0.7)
  const unknown = words.map(word => ({ ...word, probability: null }))
  expect(assemble(unknown, facts).transcript.utterances[0]).toMatchObject({
    confidence: null,
    words: [{ confidence: null }, { confidence: null }],
  })
})

test('a recording without words has an empty transcript', () => {
  expect(assemble([], facts).transcript).toEqual({
    full_transcript: '',
    language: 'en',
    duration_seconds: 60,
    speakers: null,
    utterances: [],
  })
})

test.each([1, 2, 3, 7, 100])(
  'utterances that are built %d words at a time are those of the transcript',
  wordsAtOnce => {
    const words = [...wordsOf(' One two. Three / four! Five six'), ...wordsOf(' word'.repeat(100), 10)]
    const soFar = new UtterancesSoFar(facts)
    const utterances = []
    for (let at = 0; at < words.length; at += wordsAtOnce)
      utterances.push(...soFar.add(words.slice(at, at + wordsAtOnce), 'en', facts.samples))
    expect(utterances.length).toBeGreaterThan(3)
    utterances.push(...soFar.end('en', facts.samples))
    expect(utterances).toEqual(assemble(words, facts).transcript.utterances)
  },
)

test('an utterance that may still grow is not complete', () => {
  const soFar = new UtterancesSoFar(facts)
  const [one, two, three] = wordsOf(' One two. Three')
  expect(soFar.add([one!], 'en', facts.samples)).toEqual([])
  expect(soFar.add([two!], 'en', facts.samples)).toEqual([])
  expect(soFar.add([three!], 'en', facts.samples).map(({ text }) => text)).toEqual(['One two.'])
})

test('an utterance that is reported during a job does not begin before the end of the utterance before it', () => {
  const soFar = new UtterancesSoFar(facts)
  soFar.add([placed(' One.', 0, 3)], 'en', facts.samples)
  const [one] = soFar.add([placed(' Two.', 1, 4)], 'en', facts.samples)
  const [two] = soFar.add([placed(' Three.', 4, 5)], 'en', facts.samples)
  expect([one?.end, two?.start]).toEqual([3, 3])
  expect(soFar.end('en', 4.5 * sampleRate)).toMatchObject([{ text: 'Three.', start: 4, end: 4.5 }])
})

test('words at the end of the recording have the same times in the utterances that are reported during a job', () => {
  const samples = 2 * sampleRate
  // All words have the time of the last frame. Words that the model invents after the speech often have such times.
  const words = ['Thanks', 'for', 'watching.', 'Bye.'].map(word => placed(` ${word}`, 1.98, 2))
  const soFar = new UtterancesSoFar(facts)
  const utterances = [...soFar.add(words, 'en', samples), ...soFar.end('en', samples)]
  expect(utterances.map(({ end }) => end)).toEqual([1.99, 2])
  expect(utterances).toEqual(assemble(words, { ...facts, samples }).transcript.utterances)
})
