// The output of the command `transcribe` on stderr. A terminal shows a progress bar below the recognised text. A file
// or a pipe gets a line after each tenth of a long recording, but at most one in `terminalReportEveryMs`. Each finished
// recording gets one more line. With --quiet, only errors, warnings and engine notes are shown.

import { formatClock } from '../../base/units.ts'
import { visible } from '../../base/visible.ts'
import { limits } from '../../limits.ts'
import { barOf, openBar } from '../bar.ts'
import { terminal } from '../terminal.ts'

export type Screen = {
  /** Shows what the command is doing. Does nothing with --quiet, or if stderr is not a terminal. */
  status(text: string): void
  /**
   * Shows how many seconds of the recording are transcribed. The call with 0 seconds marks the start of the
   * transcription. The shown speed does not include the time before this call, such as the time of a download.
   */
  progress(seconds: number, total: number): void
  /** Prints a line that stays on the screen: the progress bar does not overwrite this line. */
  line(text: string): void
  /** Shows a recognised text. Does nothing with --quiet, or if stderr is not a terminal. */
  heard(text: string): void
  end(): void
}

/** The number of this source, counted from 1, and the number of all sources of the command. */
export type Place = { number: number; files: number }

export function openScreen(name: string, { number, files }: Place, { quiet }: { quiet: boolean }): Screen {
  const isTerminal = terminal.isTerminal('err')
  const bar = openBar()
  let startedAt = performance.now()
  let shown = { tenth: 0, at: startedAt }
  const file = files > 1 ? `file ${number} of ${files}: ${visible(name)}` : visible(name)
  const line = (text: string) => {
    bar.end()
    terminal.err(`${text}\n`)
  }
  return {
    status: text => {
      if (!quiet) bar.show(`${text}, ${file}`)
    },
    progress(seconds, total) {
      if (quiet) return
      const now = performance.now()
      if (seconds === 0) startedAt = now
      const said = progressText({ seconds, total, elapsed: (now - startedAt) / 1000 })
      if (isTerminal) bar.show(`${barOf(seconds / total)} ${said}, ${file}`)
      const tenth = Math.floor((10 * seconds) / total)
      if (isTerminal || tenth <= shown.tenth || now - shown.at < limits.terminalReportEveryMs) return
      shown = { tenth, at: now }
      line(`${visible(name)}: ${said}`)
    },
    line,
    heard: text => {
      if (isTerminal && !quiet) line(text)
    },
    end: () => bar.end(),
  }
}

/**
 * Returns a text about the progress, such as `41 %, 12:30 of 29:48, 6.4×, 2:41 left`. The fields are in seconds: the
 * finished part of the recording, its expected duration, and the time of the work. The recording can be a little longer
 * than expected.
 */
export function progressText(progress: { seconds: number; total: number; elapsed: number }): string {
  const { total, elapsed } = progress
  const seconds = Math.min(progress.seconds, total)
  const done = `${Math.floor((100 * seconds) / total)} %, ${formatClock(seconds)} of ${formatClock(total)}`
  if (seconds === 0 || elapsed < 1) return done
  const speed = seconds / elapsed
  return `${done}, ${speed.toFixed(1)}×, ${formatClock((total - seconds) / speed)} left`
}

/**
 * Returns a text such as `7:53 in 1:13 (6.4×)`: the duration of the recording, the time of the work, and their ratio.
 */
export function speedOf(seconds: number, elapsed: number): string {
  return `${formatClock(seconds)} in ${formatClock(elapsed)} (${(seconds / Math.max(elapsed, 0.001)).toFixed(1)}×)`
}
