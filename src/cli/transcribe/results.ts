// Writes the transcripts of the sources to the output files or to stdout.

import { existsSync } from 'node:fs'
import { formatClock } from '../../base/units.ts'
import { visible, visiblePlace } from '../../base/visible.ts'
import { joinTexts } from '../../transcripts/join-texts.ts'
import type { SpeakerTurn, Transcript, Utterance } from '../../transcripts/transcript.ts'
import { Interrupted } from '../failure.ts'
import { terminal } from '../terminal.ts'
import { formats } from './formats.ts'
import { partialPath, refuseBlocked, writeOutput } from './output-file.ts'
import type { Output } from './output-paths.ts'
import { type Screen, speedOf } from './screen.ts'
import { shifted, shiftedTurns } from './section.ts'
import type { Source } from './source.ts'
import type { Task } from './task.ts'

/** A source that is being transcribed, with its output files and the utterances recognised so far. */
export type Work = {
  source: Source
  outputs: Output[]
  screen: Screen
  /**
   * True if no other source is transcribed at the same time. The screen shows the text during the recognition only if
   * this is true, so that lines of several sources are not mixed.
   */
  isAlone: boolean
  utterances: Utterance[]
  /** The language of the text of the utterances. Empty before the first utterance. */
  language: string
  /**
   * The turns of the speakers, empty before the end of the recognition. Their times count from the section's start (the
   * option --from).
   */
  turns: readonly SpeakerTurn[]
  /**
   * The time of the transcription, in milliseconds. Sources that were transcribed together share their common time in
   * proportion to their durations.
   */
  elapsedMs: number
}

/**
 * The message of an interruption if no text is written: there is no text yet, the terminal already shows the text, or
 * the only format is RTTM (speaker turns).
 */
export const noTextKept = 'interrupted'

const noSpeech = 'no speech was found; it may be silent, or contain only music'

export class Results {
  readonly #task: Task
  readonly #stdoutFormat: Output['format']
  #hasPrinted = false

  /** `stdoutFormat` is the format of the transcripts that are written to stdout. */
  constructor(task: Task, stdoutFormat: Output['format']) {
    this.#task = task
    this.#stdoutFormat = stdoutFormat
  }

  /**
   * Returns the output files that must still be written. Throws if one cannot be written, or if one exists and the user
   * chose neither --skip-existing nor --overwrite.
   */
  missing(outputs: Output[]): Output[] {
    const { existing } = this.#task
    const overwrite = existing === 'overwrite'
    for (const { path } of outputs) refuseBlocked(path, { overwrite })
    if (overwrite) return outputs
    const there = outputs.filter(({ path }) => existsSync(path))
    const [first] = there
    if (first && existing === 'refuse')
      throw new Error(`${visible(first.path)} exists already: --skip-existing or --overwrite`)
    return outputs.filter(output => !there.includes(output))
  }

  hear(work: Work, utterances: readonly Utterance[], language: string): void {
    if (work.isAlone) this.#show(work, utterances)
    work.utterances.push(...utterances)
    work.language = language
  }

  /**
   * Writes a transcript to the output files in `missing`. Prints it to stdout if the user asked for no files. The times
   * in `heard` count from the section's start (the option --from).
   */
  write(work: Work, heard: Transcript, missing: Output[]): void {
    const { source, screen, outputs } = work
    const transcript = shifted(heard, this.#task.section)
    if (!work.isAlone) this.#show(work, work.utterances)
    const warnings = [
      ...(transcript.utterances.length === 0 ? [noSpeech] : []),
      ...(transcript.warnings ?? []),
    ]
    for (const warning of warnings) screen.line(`steno: ${visiblePlace(source.place)}: ${warning}`)
    if (outputs.length === 0) this.#print(work, transcript)
    const written = missing.filter(output => this.#writeFile(work, transcript, output))
    const other = missing.find(output => !written.includes(output))
    if (other && this.#task.existing === 'refuse')
      throw new Error(`${visible(other.path)} was written by another program meanwhile`)
    if (this.#task.quiet) return
    const speed = speedOf(transcript.duration_seconds, work.elapsedMs / 1000)
    const places = written.map(({ path }) => visible(path)).join(', ')
    screen.line(`${visible(source.name)}: ${speed}${places === '' ? '' : ` → ${places}`}`)
  }

  /**
   * Writes the utterances recognised before the interruption, to stdout or to files such as `talk.partial.txt`. RTTM
   * (speaker turns) is not written, because speakers are known only at the end. Returns the error that ends the
   * command.
   */
  interruption(work: Work): Interrupted {
    const { source, outputs, utterances, language } = work
    const heard = utterances.at(-1)
    if (!work.isAlone) this.#show(work, utterances)
    const texts = outputs.filter(({ format }) => format !== 'rttm')
    const hasText = outputs.length === 0 ? this.#stdoutFormat !== 'rttm' : texts.length > 0
    if (!heard || !hasText || this.#isShownLive(work)) return new Interrupted(noTextKept)
    const { fromMs } = this.#task.section
    const transcript = shifted(
      {
        full_transcript: joinTexts(
          utterances.map(({ text }) => text),
          language,
        ),
        language,
        duration_seconds: heard.end,
        speakers: null,
        utterances,
        warnings: ['The transcription was interrupted: the end of the recording is missing.'],
      },
      { fromMs },
    )
    if (outputs.length === 0) this.#print(work, transcript)
    const partial = texts.map(output => ({ ...output, path: partialPath(output.path) }))
    for (const { path, format } of partial)
      writeOutput(path, this.#text(work, transcript, format), { overwrite: true })
    const places = partial.map(({ path }) => visible(path)).join(', ') || 'standard output'
    return new Interrupted(
      `interrupted in ${visiblePlace(source.place)}; its text up to ${formatClock(heard.end + fromMs / 1000)} is in ${places}`,
    )
  }

  #show({ screen }: Work, utterances: readonly Utterance[]): void {
    const { fromMs } = this.#task.section
    for (const { start, text } of utterances) screen.heard(`[${formatClock(start + fromMs / 1000)}] ${text}`)
  }

  /** Prints a transcript to stdout. Prints nothing if the terminal already showed its lines. */
  #print(work: Work, transcript: Transcript): void {
    const text = this.#isShownLive(work) ? '' : this.#text(work, transcript, this.#stdoutFormat)
    if (text === '') return
    terminal.out(`${this.#hasPrinted ? formats[this.#stdoutFormat].between : ''}${text}`)
    this.#hasPrinted = true
  }

  #writeFile(work: Work, transcript: Transcript, { path, format }: Output): boolean {
    const overwrite = this.#task.existing === 'overwrite'
    return writeOutput(path, this.#text(work, transcript, format), { overwrite })
  }

  #text({ source, turns }: Work, transcript: Transcript, format: Output['format']): string {
    const { exports, section } = this.#task
    return formats[format].write(transcript, {
      title: source.name,
      options: exports,
      turns: shiftedTurns(turns, section),
    })
  }

  #isShownLive({ outputs }: Work): boolean {
    const isOnTerminal = terminal.isTerminal('out') && terminal.isTerminal('err') && !this.#task.quiet
    const isPlain = this.#stdoutFormat === 'text' && !this.#task.input.diarize
    return isOnTerminal && isPlain && outputs.length === 0
  }
}
