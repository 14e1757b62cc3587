// Transcribes sources (files, addresses or standard input) for the commands `steno transcribe` and `steno watch`, one
// after the other. If a source fails, prints its error and continues with the next source.

import { existsSync } from 'node:fs'
import { reasonOf } from '../../base/reason.ts'
import type { Config } from '../../config.ts'
import { type OneShotEngine, openOnce } from '../../engine/once.ts'
import { JobFailure } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { openMedia } from '../../media/inspect.ts'
import { OutputError, terminal, visible } from '../terminal.ts'
import { openFetcher } from './fetcher.ts'
import type { Output } from './output-paths.ts'
import { Results, type Work } from './results.ts'
import { openScreen, type Screen } from './screen.ts'
import { partOf, shifted } from './section.ts'
import type { Source } from './source.ts'
import type { Task } from './task.ts'

export type Counts = { done: number; failed: number; skipped: number; seconds: number }

type Run = {
  config: Config
  task: Task
  /** The format of transcripts that are written to stdout. */
  stdoutFormat: Output['format']
  signal: AbortSignal
  /** The function that starts the engine. Tests replace this function. */
  open?: typeof openOnce
}

export class Batch {
  readonly counts: Counts = { done: 0, failed: 0, skipped: 0, seconds: 0 }
  readonly #run: Run
  readonly #results: Results
  readonly #fetcher
  #engine: OneShotEngine | null = null

  constructor(run: Run) {
    this.#run = run
    this.#results = new Results(run.task, run.stdoutFormat)
    this.#fetcher = openFetcher(run.config, run.signal)
  }

  /**
   * Transcribes all sources. For each source, the map has the list of its output files. If this list is empty, the
   * transcript of the source is written to stdout. Throws only if the user interrupts the work, if stdout cannot be
   * written, or if no engine can be started.
   */
  async transcribeAll(sources: Map<Source, Output[]>): Promise<void> {
    let number = 0
    for (const [source, outputs] of sources) {
      number += 1
      const screen = openScreen(source.name, { number, files: sources.size }, this.#run.task)
      const work: Work = { source, outputs, screen, utterances: [], startedAt: performance.now() }
      try {
        await this.#transcribe(work)
      } catch (error) {
        screen.end()
        if (this.#run.signal.aborted) throw this.#results.interruption(work)
        if (error instanceof EngineFailed || error instanceof OutputError) throw error
        this.fail(source.place, this.#reason(source, error))
      } finally {
        screen.end()
      }
    }
  }

  /** Counts a source as failed, and prints the reason to stderr. */
  fail(place: string, reason: string): void {
    this.counts.failed += 1
    terminal.err(`steno: ${visible(place)}: ${reason}\n`)
  }

  async close(): Promise<void> {
    this.#fetcher.close()
    await this.#engine?.close()
    this.#engine = null
  }

  async #transcribe(work: Work): Promise<void> {
    const { source, screen, outputs } = work
    const { task, config, signal } = this.#run
    signal.throwIfAborted()
    const missing = this.#results.missing(outputs)
    if (missing.length === 0 && outputs.length > 0) {
      this.counts.skipped += 1
      return
    }
    const path = await this.#fetcher.bring(source, screen)
    screen.status('reading the file')
    const { durationMs, channels } = await openMedia(config).inspect(path, { signal })
    if (task.splitChannels && channels > limits.splitChannelsMax)
      throw new Error(
        `the recording has ${channels} channels; at most ${limits.splitChannelsMax} can be split`,
      )
    const part = partOf(task.section, durationMs)
    const engine = await this.#openEngine(screen)
    work.startedAt = performance.now()
    const total = part.durationMs / 1000
    const transcript = await engine.transcribe(
      { ...task.input, path, ...part, channels: task.splitChannels ? channels : null },
      {
        signal,
        onSeconds: seconds => screen.progress(seconds, total),
        onUtterances: utterances => this.#results.hear(work, utterances),
      },
    )
    screen.end()
    this.#results.write(work, shifted(transcript, task.section), missing)
    this.counts.done += 1
    this.counts.seconds += transcript.duration_seconds
  }

  async #openEngine(screen: Screen): Promise<OneShotEngine> {
    if (this.#engine) return this.#engine
    screen.status('loading the model')
    try {
      const { config, open = openOnce } = this.#run
      this.#engine = await open(config, message => screen.status(message))
    } catch (error) {
      throw new EngineFailed(reasonOf(error))
    }
    for (const note of this.#engine.notes) screen.line(`steno: ${note}`)
    return this.#engine
  }

  #reason({ kind, place }: Source, error: unknown): string {
    if (kind === 'file' && !existsSync(place)) {
      // In `place`, each byte of the file name that is not UTF-8 was replaced by U+FFFD. So the file exists, but under
      // another name than `place`.
      return place.includes('\ufffd')
        ? 'the name of the file is not UTF-8: rename the file'
        : 'the file vanished while it was read'
    }
    if (!(error instanceof JobFailure) && this.#engine) {
      // Each error that the source itself causes is a JobFailure. Any other error may mean that the engine process has
      // exited. So the engine is closed, and another engine is started for the next source.
      void this.#engine.close()
      this.#engine = null
    }
    return reasonOf(error)
  }
}

/**
 * The error that is thrown if no engine can be started. This error ends the command, because all other sources would
 * fail in the same way.
 */
class EngineFailed extends Error {}
