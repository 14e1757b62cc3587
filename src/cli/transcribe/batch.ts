// Transcribes sources (files, addresses or standard input) for `steno transcribe` and `steno watch`. Several short
// files are transcribed together, which needs less CPU time. If a source fails, prints its error and continues.

import { existsSync } from 'node:fs'
import { reasonOf } from '../../base/reason.ts'
import { visiblePlace } from '../../base/visible.ts'
import type { Config } from '../../config.ts'
import { type OneShotEngine, openOnce } from '../../engine/once.ts'
import type { TranscribeInput } from '../../engine/request.ts'
import { JobFailure } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { openMedia } from '../../media/inspect.ts'
import type { Transcript } from '../../transcripts/transcript.ts'
import { Interrupted } from '../failure.ts'
import { OutputError, terminal } from '../terminal.ts'
import { openFetcher } from './fetcher.ts'
import type { Output } from './output-paths.ts'
import { noTextKept, Results, type Work } from './results.ts'
import { openScreen, type Screen } from './screen.ts'
import { partOf } from './section.ts'
import { isNotUtf8, notUtf8, type Source } from './source.ts'
import type { Task } from './task.ts'

export type Counts = { done: number; failed: number; skipped: number; seconds: number }

/** A source whose file was inspected. `missing` has the output files that must be written. */
type Prepared = { work: Work; missing: Output[]; input: TranscribeInput }

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
  /** The error after which no engine is started again. */
  #engineFailed: EngineFailed | null = null

  constructor(run: Run) {
    this.#run = run
    this.#results = new Results(run.task, run.stdoutFormat)
    this.#fetcher = openFetcher(run.config, run.signal)
  }

  /**
   * Transcribes all sources. `sources` has the output files of each source. Without output files, the transcript is
   * written to stdout. Throws if the user interrupts the work, stdout cannot be written, or no engine can be started.
   */
  async transcribeAll(sources: Map<Source, Output[]>): Promise<void> {
    let number = 0
    const group: Prepared[] = []
    for (const [source, outputs] of sources) {
      number += 1
      const screen = openScreen(source.name, { number, files: sources.size }, this.#run.task)
      const work: Work = {
        source,
        outputs,
        screen,
        isAlone: true,
        utterances: [],
        language: '',
        turns: [],
        elapsedMs: 0,
      }
      // A copied or downloaded source is transcribed alone, because its file is removed when the next source is copied
      // or downloaded.
      const isAlone = source.kind !== 'file'
      if (isAlone) await this.#transcribe(group.splice(0))
      const prepared = await this.#guard(work, () => this.#prepare(work))
      if (!prepared) continue
      if (!fitsInto(group, prepared)) await this.#transcribe(group.splice(0))
      group.push(prepared)
      if (isAlone) await this.#transcribe(group.splice(0))
    }
    await this.#transcribe(group)
  }

  /** Counts a source as failed, and prints the reason to stderr. */
  fail(place: string, reason: string): void {
    this.counts.failed += 1
    terminal.err(`steno: ${visiblePlace(place)}: ${reason}\n`)
  }

  async close(): Promise<void> {
    this.#fetcher.close()
    await this.#closeEngine(this.#engine)
  }

  /**
   * Runs `action` for a source. If `action` fails, counts the source as failed and returns null. If the whole command
   * must end, throws an error instead.
   */
  async #guard<Result>(work: Work, action: () => Promise<Result>): Promise<Result | null> {
    const { source, screen } = work
    try {
      return await action()
    } catch (error) {
      screen.end()
      if (this.#run.signal.aborted) throw this.#results.interruption(work)
      if (error instanceof EngineFailed || error instanceof OutputError) throw error
      this.fail(source.place, this.#reason(source, error))
      return null
    } finally {
      screen.end()
    }
  }

  /**
   * Makes the source available as a file, and inspects it. Returns null if all output files of the source exist already
   * and must be kept.
   */
  async #prepare(work: Work): Promise<Prepared | null> {
    const { source, screen, outputs } = work
    const { task, config, signal } = this.#run
    signal.throwIfAborted()
    const missing = this.#results.missing(outputs)
    if (missing.length === 0 && outputs.length > 0) {
      this.counts.skipped += 1
      return null
    }
    const path = await this.#fetcher.bring(source, screen)
    screen.status('reading the file')
    const { durationMs, channels } = await openMedia(config).inspect(path, { signal })
    if (task.splitChannels && channels > limits.splitChannelsMax)
      throw new Error(
        `the recording has ${channels} channels; at most ${limits.splitChannelsMax} can be split`,
      )
    const part = partOf(task.section, durationMs)
    return {
      work,
      missing,
      input: { ...task.input, path, ...part, channels: task.splitChannels ? channels : null },
    }
  }

  /**
   * Transcribes a group of sources at the same time, and writes their transcripts in order. If the engine process
   * exits, each source without a transcript is transcribed again, alone, so that only the source that caused the exit
   * fails.
   */
  async #transcribe(group: readonly Prepared[]): Promise<void> {
    const [first] = group
    if (!first) return
    const engine = await this.#guard(first.work, () => this.#openEngine(first.work.screen))
    if (!engine) return
    for (const { work } of group) work.isAlone = group.length === 1
    const startedAt = performance.now()
    const heard = await Promise.allSettled(group.map(prepared => this.#hear(engine, prepared)))
    const elapsedMs = performance.now() - startedAt
    const durationMs = group.reduce((sum, { input }) => sum + input.durationMs, 0)
    await forAll(group, async (prepared, index) => {
      const { work, missing, input } = prepared
      const result = heard[index]!
      const isFault = result.status === 'rejected' && this.#isEngineFault(work.source, result.reason)
      if (isFault) await this.#closeEngine(engine)
      if (isFault && group.length > 1) {
        work.utterances = []
        await this.#transcribe([prepared])
        return
      }
      await this.#guard(work, async () => {
        if (result.status === 'rejected') throw result.reason
        work.elapsedMs = elapsedMs * (input.durationMs / durationMs)
        this.#results.write(work, result.value, missing)
        this.counts.done += 1
        this.counts.seconds += result.value.duration_seconds
      })
    })
  }

  async #hear(engine: OneShotEngine, { work, input }: Prepared): Promise<Transcript> {
    const { screen } = work
    try {
      return await engine.transcribe(input, {
        signal: this.#run.signal,
        onSeconds: seconds => screen.progress(seconds, input.durationMs / 1000),
        onUtterances: (utterances, _, language) => this.#results.hear(work, utterances, language),
        onTurns: turns => (work.turns = turns),
      })
    } finally {
      screen.end()
    }
  }

  async #openEngine(screen: Screen): Promise<OneShotEngine> {
    if (this.#engine) return this.#engine
    if (this.#engineFailed) throw this.#engineFailed
    screen.status('loading the model')
    try {
      const { config, task, open = openOnce } = this.#run
      this.#engine = await open(config, message => screen.status(message), task.input)
    } catch (error) {
      this.#engineFailed = new EngineFailed(reasonOf(error))
      throw this.#engineFailed
    }
    for (const note of this.#engine.notes) screen.line(`steno: ${note}`)
    return this.#engine
  }

  /**
   * Returns true if the error of a transcription may mean that the engine process has exited. Returns false for the
   * errors that the source itself causes: a JobFailure, or any error if its file no longer exists.
   */
  #isEngineFault({ kind, place }: Source, error: unknown): boolean {
    const vanished = kind === 'file' && !existsSync(place)
    return !(error instanceof JobFailure) && !vanished && !this.#run.signal.aborted
  }

  /**
   * Closes `engine`. Also sets `#engine` to null if it is the same engine, so that the next source opens another one.
   */
  async #closeEngine(engine: OneShotEngine | null): Promise<void> {
    if (this.#engine === engine) this.#engine = null
    await engine?.close()
  }

  #reason({ kind, place }: Source, error: unknown): string {
    if (kind === 'file' && !existsSync(place)) {
      return isNotUtf8(place) ? notUtf8 : 'the file vanished while it was read'
    }
    return reasonOf(error)
  }
}

/** Returns true if the group has room for another source, and this source is short enough for it. */
function fitsInto(group: readonly Prepared[], { input }: Prepared): boolean {
  const durationMs = group.reduce((sum, each) => sum + each.input.durationMs, input.durationMs)
  return group.length < limits.jointFilesMax && durationMs <= limits.jointMsMax
}

/**
 * Calls `end` for each source of the group, so that `end` writes the text of the source. After an Interrupted or an
 * EngineFailed, the loop goes on, because the other sources still need their text. Any other error is thrown at once.
 * After the loop, throws the EngineFailed, if there was one. Otherwise, if there was an Interrupted, throws one
 * Interrupted for the whole group. Its message names the partial transcripts of all interrupted sources.
 */
async function forAll(
  group: readonly Prepared[],
  end: (prepared: Prepared, index: number) => Promise<void>,
): Promise<void> {
  const interruptions: Interrupted[] = []
  let engineFailed: EngineFailed | null = null
  for (const [index, prepared] of group.entries()) {
    try {
      await end(prepared, index)
    } catch (error) {
      if (error instanceof Interrupted) interruptions.push(error)
      else if (error instanceof EngineFailed) engineFailed = error
      else throw error
    }
  }
  if (engineFailed !== null) throw engineFailed
  if (interruptions.length === 0) return
  const places = interruptions.map(({ message }) => message).filter(message => message !== noTextKept)
  throw new Interrupted(places.join('\n') || noTextKept)
}

/** The error if no engine can be started. This error ends the command, because all other recordings would fail too. */
class EngineFailed extends Error {}
