// Makes transcripts of a conversation for the tests and benchmarks of the web app.

import type { Transcript, Utterance } from '../../src/transcripts/transcript.ts'

const sentences = [
  'We should talk about the budget first, because the numbers were lower than planned.',
  'I agree, and I would add that the travel line is the one that grew.',
  'Nobody expected the workshops to cost that much.',
  'Could we move two of them online?',
  'That would save about eleven thousand.',
  'The team in Lisbon asked for one more month.',
  'They say the hardware arrives late, and without it they cannot test.',
  'Then we plan with the first delivery and treat the second as a present.',
]

const pauseSeconds = 0.4
const secondsOfLetter = 0.06

/**
 * Returns a transcript with at least `words` words. If there are several speakers, the speaker changes after every
 * three sentences.
 */
export function conversation({ words, speakers }: { words: number; speakers: number }): Transcript {
  const utterances: Utterance[] = []
  let seconds = pauseSeconds
  for (let count = 0; count < words; ) {
    const at = utterances.length
    const text = sentences[at % sentences.length] ?? ''
    const speaker = speakers === 0 ? null : `SPEAKER ${(Math.floor(at / 3) % speakers) + 1}`
    const utterance = spoken(text, { start: seconds, speaker })
    utterances.push(utterance)
    count += utterance.words.length
    seconds = utterance.end + pauseSeconds
  }
  return {
    full_transcript: utterances.map(({ text }) => text).join(' '),
    language: 'en',
    duration_seconds: milliseconds(seconds),
    speakers: speakers === 0 ? null : Array.from({ length: speakers }, (_, at) => `SPEAKER ${at + 1}`),
    utterances,
    model: 'base',
    warnings: [],
  }
}

function spoken(text: string, { start, speaker }: { start: number; speaker: string | null }): Utterance {
  let end = start
  const words = text.split(' ').map((word, at) => {
    const from = end
    end += word.length * secondsOfLetter
    return {
      word,
      start: milliseconds(from),
      end: milliseconds(end),
      confidence: at % 7 === 3 ? 0.3 : 0.9,
      ...(speaker === null ? {} : { speaker }),
    }
  })
  return { start: milliseconds(start), end: milliseconds(end), text, speaker, confidence: 0.9, words }
}

function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}
