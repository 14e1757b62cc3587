import { expect, spyOn, test } from 'bun:test'
import { cut } from '../../src/cli/bar.ts'
import { terminal } from '../../src/cli/terminal.ts'
import { openScreen, progressText } from '../../src/cli/transcribe/screen.ts'

test.each([
  [{ seconds: 12.5, total: 50, elapsed: 0.5 }, '25 %, 0:12 of 0:50'],
  [{ seconds: 12.5, total: 50, elapsed: 5 }, '25 %, 0:12 of 0:50, 2.5×, 0:15 left'],
  [{ seconds: 3700, total: 7400, elapsed: 370 }, '50 %, 1:01:40 of 2:03:20, 10.0×, 6:10 left'],
])('the progress %o is shown as "%s"', (progress, expected) => {
  expect(progressText(progress)).toBe(expected)
})

test('sound that goes on beyond the expected duration leaves no time', () => {
  expect(progressText({ seconds: 5.1, total: 5, elapsed: 2 })).toBe('100 %, 0:05 of 0:05, 2.5×, 0:00 left')
})

test('the speed and the time left do not count a download before the transcription', () => {
  let now = 0
  using _ = spyOn(performance, 'now').mockImplementation(() => now)
  using _terminal = spyOn(terminal, 'isTerminal').mockReturnValue(false)
  using err = spyOn(terminal, 'err').mockImplementation(() => {})
  const screen = openScreen('a.mp3', { number: 1, files: 1 }, { quiet: false })
  now = 600_000
  screen.progress(0, 100)
  now += 20_000
  screen.progress(50, 100)
  expect(err.mock.calls).toEqual([['a.mp3: 50 %, 0:50 of 1:40, 2.5×, 0:20 left\n']])
})

test('a line is cut where the columns of the terminal end', () => {
  expect(cut('reading talk.mp3', 40)).toBe('reading talk.mp3')
  expect(cut('reading talk.mp3', 12)).toBe('reading talk')
  expect(cut('reading 日本語.mp3', 12)).toBe('reading 日本')
  expect(cut('reading 日本語.mp3', 11)).toBe('reading 日')
  expect(cut('👩‍👩‍👧 a', 1)).toBe('')
})
