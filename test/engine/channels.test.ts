import { expect, test } from 'bun:test'
import { mergeChannels, mergePeaks, wrongLanguages } from '../../src/engine/channels.ts'
import { transcriptWith, utteranceOf } from '../support/transcripts.ts'

test('utterances of all channels are in the order of time, and overlapping speech stays', () => {
  const left = transcriptWith(['Hello.', 'Yes, fine.'])
  const right = { ...transcriptWith(['']), utterances: [utteranceOf('How are you today?', 0.25)] }
  const merged = mergeChannels([left, { ...right, full_transcript: 'How are you today?' }])
  expect(merged.full_transcript).toBe('Hello. How are you today? Yes, fine.')
  expect(merged.speakers).toEqual(['SPEAKER 1', 'SPEAKER 2'])
  expect(merged.utterances.map(({ speaker, start }) => [speaker, start])).toEqual([
    ['SPEAKER 1', 0],
    ['SPEAKER 2', 0.25],
    ['SPEAKER 1', 10],
  ])
  for (const { speaker, words } of merged.utterances)
    expect(words.every(word => word.speaker === speaker)).toBe(true)
})

test('a speaker has the number of its channel, and a silent channel has no speaker', () => {
  const silent = transcriptWith([])
  const merged = mergeChannels([silent, { ...transcriptWith(['Guten Tag.']), language: 'de' }, silent])
  expect([merged.speakers, merged.language]).toEqual([['SPEAKER 2'], 'de'])
  expect(mergeChannels([silent]).speakers).toEqual([])
})

test('a warning of two channels is given once, and a warning of any channel is kept', () => {
  const warned = (...warnings: string[]) => ({ ...transcriptWith(['a']), warnings })
  const merged = mergeChannels([warned('for tests'), warned('for tests', 'text doubtful')])
  expect(merged.warnings).toEqual(['for tests', 'text doubtful'])
})

test('the duration is that of the longest channel, even if another channel has more text', () => {
  const short = { ...transcriptWith(['Most of the text.']), duration_seconds: 5 }
  expect(mergeChannels([short, { ...transcriptWith(['a']), duration_seconds: 7 }]).duration_seconds).toBe(7)
})

test('the peaks of all channels are the highest of them', () => {
  expect(mergePeaks([Uint8Array.of(4, 2), Uint8Array.of(1, 9, 3)])).toEqual(Uint8Array.of(4, 9, 3))
})

test('a channel with little speech in another language than the longest text has a wrong language', () => {
  const said = (language: string, seconds: number) => {
    const transcript = transcriptWith(['x'.repeat(seconds)])
    const utterances = transcript.utterances.map(utterance => ({ ...utterance, start: 1, end: 1 + seconds }))
    return { ...transcript, language, utterances }
  }
  const silent = { ...transcriptWith([]), language: 'de' }
  const wrong = wrongLanguages([said('ar', 2), said('en', 20), said('fr', 7), said('en', 1), silent])
  expect(wrong).toEqual({ channels: [0], language: 'en' })
  // If no channel has much speech, no language is more certain than another one.
  expect(wrongLanguages([said('ar', 2), said('en', 3)]).channels).toEqual([])
})
