import { expect, test } from 'bun:test'
import { downloadProgress, transcribeProgress } from '../../src/jobs/progress.ts'

test.each([
  [0, 10, 0, 'Transcribing 0 % (00:00 of 00:10)'],
  [5, 10, 50, 'Transcribing 50 % (00:05 of 00:10)'],
  [750, 1788, 41, 'Transcribing 41 % (12:30 of 29:48)'],
  [3725, 36_000, 10, 'Transcribing 10 % (1:02:05 of 10:00:00)'],
  [999, 60, 100, 'Transcribing 100 % (01:00 of 01:00)'],
  [0, 0, 0, 'Transcribing 0 % (00:00 of 00:00)'],
])('%d of %d seconds are %d percent: "%s"', (seconds, total, percent, sentence) => {
  expect(transcribeProgress(seconds, total)).toEqual({ sentence, percent })
})

test('a download of unknown length shows only the bytes that were received', () => {
  expect(downloadProgress(2_000_000, null)).toEqual({ sentence: 'Downloading, 1.9 MB', percent: null })
  expect(downloadProgress(2_000_000, 4_000_000).sentence).toBe('Downloading, 1.9 MB of 3.8 MB')
})
