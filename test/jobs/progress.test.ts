import { expect, test } from 'bun:test'
import { downloadProgress, transcribeProgress } from '../../src/jobs/progress.ts'

test.each([
  [0, 10, null, 'Transcribing 0 % (00:00 of 00:10)'],
  [5, 10, null, 'Transcribing 50 % (00:05 of 00:10)'],
  [750, 1788, null, 'Transcribing 41 % (12:30 of 29:48)'],
  [3725, 36_000, null, 'Transcribing 10 % (1:02:05 of 10:00:00)'],
  [999, 60, 'Mind this', 'Transcribing 100 % (01:00 of 01:00). Mind this'],
  [0, 0, null, 'Transcribing 0 % (00:00 of 00:00)'],
])('%d of %d seconds with the notice %p is "%s"', (seconds, total, notice, sentence) => {
  expect(transcribeProgress(seconds, total, notice)).toBe(sentence)
})

test('a download without a known length shows only what has arrived', () => {
  expect(downloadProgress(2_000_000, null)).toBe('Downloading, 1.9 MB')
  expect(downloadProgress(2_000_000, 4_000_000)).toBe('Downloading, 1.9 MB of 3.8 MB')
})
