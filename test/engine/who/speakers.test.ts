import { expect, test } from 'bun:test'
import { assemble } from '../../../src/engine/assemble.ts'
import { speakersOf } from '../../../src/engine/who/speakers.ts'
import type { Turn } from '../../../src/engine/who/turn.ts'

/**
 * Returns the words of a text with their times. One word begins each second, from second 0 on, and lasts half a second.
 */
const wordsOf = (words: string) =>
  words
    .split(' ')
    .map((text, at) => ({ text: ` ${text}`, from: at * 16_000, to: at * 16_000 + 8000, probability: 0.9 }))
type Word = ReturnType<typeof wordsOf>[number]
const turn = (from: number, to: number, speaker: number) => ({
  from: from * 16_000,
  to: to * 16_000,
  speaker,
})

const speakersOfWords = (words: string, turns: Turn[]) =>
  speakersOf(wordsOf(words), { turns, exclusive: turns }).ofWords

test('a word gets the speaker of the turn that it overlaps most, and speakers are numbered by their first word', () => {
  const words = 'Hello there. Who is it?'
  expect(speakersOfWords(words, [turn(0, 2, 7), turn(2, 5, 3)])).toEqual([0, 0, 1, 1, 1])
  expect(speakersOfWords(words, [turn(0, 2.1, 3), turn(1.9, 5, 0)])).toEqual([0, 0, 1, 1, 1])
})

test('several turns of one speaker within a word count together', () => {
  const turns = [turn(0, 0.15, 1), turn(0.15, 0.35, 0), turn(0.35, 0.5, 1), turn(1, 2, 0)]
  expect(speakersOfWords('Yes. No.', turns)).toEqual([0, 1])
})

test('a word outside all turns gets the speaker of the nearest one', () => {
  expect(speakersOfWords('One. Two. Three. Four.', [turn(0, 0.2, 1), turn(3.1, 4, 0)])).toEqual([0, 0, 1, 1])
  expect(speakersOfWords('One two', [])).toEqual([0, 0])
})

test('a stray word within a sentence gets the speaker of the sentence, a sentence of one word does not', () => {
  const sentence = 'I think the plan is good.'
  expect(speakersOfWords(sentence, [turn(0, 3, 0), turn(3, 4, 1), turn(4, 6, 0)])).toEqual([0, 0, 0, 0, 0, 0])
  expect(speakersOfWords(sentence, [turn(0, 1, 1), turn(1, 6, 0)])).toEqual([0, 0, 0, 0, 0, 0])
  const answered = 'Is it good? Yes. Then we go.'
  expect(speakersOfWords(answered, [turn(0, 3, 0), turn(3, 4, 1), turn(4, 9, 0)])).toEqual([
    0, 0, 0, 1, 0, 0, 0,
  ])
  const inHindi = 'क्या यह ठीक है। हाँ। तो हम चलें।'
  expect(speakersOfWords(inHindi, [turn(0, 4, 0), turn(4, 5, 1), turn(5, 9, 0)])).toEqual([
    0, 0, 0, 0, 1, 0, 0, 0,
  ])
  expect(speakersOfWords('No. Oh yes.', [turn(0, 2, 0), turn(2, 4, 1)])).toEqual([0, 0, 1])
  const long = 'we can meet on Monday or maybe on Tuesday'
  expect(speakersOfWords(long, [turn(0, 3, 0), turn(3, 6, 1), turn(6, 9, 0)])).toEqual([
    0, 0, 0, 1, 1, 1, 0, 0, 0,
  ])
  // The speech model joined the words of two speakers into one sentence. Each word must still have its own speaker.
  expect(speakersOfWords('how are you fine thanks you', [turn(0, 3, 0), turn(3, 6, 1)])).toEqual([
    0, 0, 0, 1, 1, 1,
  ])
})

test('an utterance has one speaker, with the label of the API', () => {
  const turns = [turn(0, 3, 4), turn(3, 6, 2)]
  const { transcript } = assemble(wordsOf('how are you fine thanks you'), {
    language: 'en',
    samples: 160_000,
    align: true,
    timeline: { turns, exclusive: turns },
  })
  expect(transcript.speakers).toEqual(['SPEAKER 1', 'SPEAKER 2'])
  expect(transcript.utterances.map(({ speaker, text }) => [speaker, text])).toEqual([
    ['SPEAKER 1', 'how are you'],
    ['SPEAKER 2', 'fine thanks you'],
  ])
  for (const { speaker, words } of transcript.utterances)
    for (const word of words) expect(word.speaker).toBe(speaker!)
})

test('turns have the labels of the words, may overlap, and keep a speaker without words', () => {
  const turns = [turn(0, 1, 5), turn(0, 3.25, 4), turn(2.9, 6, 2)]
  const exclusive = [turn(0, 2.9, 4), turn(2.9, 6, 2)]
  const assembled = assemble(wordsOf('how are you fine thanks you'), {
    language: 'en',
    samples: 96_000,
    align: true,
    timeline: { turns, exclusive },
  })
  expect(assembled.turns).toEqual([
    { start: 0, end: 1, speaker: 'SPEAKER 3' },
    { start: 0, end: 3.25, speaker: 'SPEAKER 1' },
    { start: 2.9, end: 6, speaker: 'SPEAKER 2' },
  ])
  expect(assembled.transcript.speakers).toEqual(['SPEAKER 1', 'SPEAKER 2'])
})

test('silence has an empty list of speakers, and a transcript without diarization has none', () => {
  const facts = { language: 'en', samples: 16_000, align: true }
  const silence = assemble([], { ...facts, timeline: { turns: [], exclusive: [] } })
  expect([silence.transcript.speakers, silence.turns]).toEqual([[], []])
  const { transcript, turns } = assemble(wordsOf('Hello.'), { ...facts, timeline: null })
  const { speakers, utterances } = transcript
  expect(turns).toEqual([])
  expect(speakers).toBeNull()
  expect(utterances[0]).toMatchObject({ speaker: null })
  expect(utterances[0]!.words[0]).not.toHaveProperty('speaker')
})

test('a pause of 1.2 s ends a sentence, so that the word after it keeps its speaker', () => {
  const [one, two, three, four] = wordsOf('well I think yes') as [Word, Word, Word, Word]
  const later = { ...four, from: three.to + 1.2 * 16_000, to: three.to + 2 * 16_000 }
  const turns = [turn(0, 3, 0), turn(3, 9, 1)]
  expect(speakersOf([one, two, three, later], { turns, exclusive: turns }).ofWords).toEqual([0, 0, 0, 1])
})
