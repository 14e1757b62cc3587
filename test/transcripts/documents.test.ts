import { expect, test } from 'bun:test'
import { writeCsv, writeMarkdown, writeRttm } from '../../src/transcripts/documents.ts'
import type { Transcript } from '../../src/transcripts/transcript.ts'

const said = (start: number, speaker: string | null, text: string) => ({
  start,
  end: start + 1.25,
  text,
  speaker,
  confidence: null,
  words: [],
})
const transcript: Transcript = {
  full_transcript: '',
  language: 'en',
  duration_seconds: 3700,
  speakers: ['SPEAKER 1', 'SPEAKER 2'],
  utterances: [
    said(0.5, 'SPEAKER 1', 'Good *morning*.'),
    said(2, 'SPEAKER 1', 'He said "no",\nthen left.'),
    said(3661, 'SPEAKER 2', '#1 it is.'),
  ],
}

test('Markdown has one paragraph for each turn, and no text is read as markup', () => {
  expect(writeMarkdown(transcript, 'talk_1.mp3')).toBe(
    '# talk\\_1.mp3\n\n' +
      '**Speaker 1** _00:00:00_ Good \\*morning\\*. He said "no", then left.\n\n' +
      '**Speaker 2** _01:01:01_ \\#1 it is.\n',
  )
})

test('Markdown has no spaces between the sentences of a language that is written without them', () => {
  const utterances = ['我们开始吧。', 'OK.', '#1', '好的。'].map((text, at) => said(at, 'Ann', text))
  expect(writeMarkdown({ ...transcript, language: 'zh', utterances }, 'a')).toEndWith(
    '_00:00:00_ 我们开始吧。OK. \\#1好的。\n',
  )
})

test('CSV has one row for each utterance, quoted as in RFC 4180', () => {
  expect(writeCsv(transcript)).toBe(
    'start,end,speaker,text\r\n' +
      '0.500,1.750,SPEAKER 1,Good *morning*.\r\n' +
      '2.000,3.250,SPEAKER 1,"He said ""no"",\nthen left."\r\n' +
      '3661.000,3662.250,SPEAKER 2,#1 it is.\r\n',
  )
})

test('RTTM has one line for each turn, with ten fields', () => {
  const turns = [
    { start: 0.5, end: 1.75, speaker: 'SPEAKER 1' },
    { start: 1.5, end: 2, speaker: 'Dr. Ada  Lovelace' },
  ]
  expect(writeRttm(turns, 'my talk.mp3')).toBe(
    'SPEAKER my_talk.mp3 1 0.500 1.250 <NA> <NA> SPEAKER_1 <NA> <NA>\n' +
      'SPEAKER my_talk.mp3 1 1.500 0.500 <NA> <NA> Dr._Ada_Lovelace <NA> <NA>\n',
  )
})
