// The transcription task that results from the options of the commands `transcribe` and `watch`.

import type { TranscribeChoices } from '../../engine/request.ts'
import { findMeantLanguage, isLanguage } from '../../languages.ts'
import { limits } from '../../limits.ts'
import type { ExportOptions } from '../../transcripts/export-options.ts'
import { parseWhole, refuseEmpty } from '../arguments.ts'
import { UsageError } from '../failure.ts'
import type { Format } from './formats.ts'
import { type Section, sectionOf } from './section.ts'
import type { TaskValues } from './task-options.ts'

const { cueWords, cueChars, cueSeconds } = limits

export type Task = {
  input: TranscribeChoices
  /** True if each channel of the recording is transcribed separately, as one speaker. */
  splitChannels: boolean
  section: Section
  exports: ExportOptions
  existing: 'refuse' | 'skip' | 'overwrite'
  quiet: boolean
}

export function readTask(values: TaskValues, { skipExisting }: { skipExisting: boolean }): Task {
  refuseEmpty(values, 'language', 'format', 'model')
  const { diarize = false, overwrite = false, quiet = false } = values
  if (skipExisting && overwrite) throw new UsageError('--skip-existing and --overwrite exclude each other')
  return {
    input: {
      language: languageOf(values),
      diarize,
      speakerCount: speakersOf(values),
      align: !values['no-align'] || diarize,
      prompt: values.prompt ?? null,
      vocabulary: values.vocabulary?.split(',').map(term => term.trim()) ?? [],
    },
    splitChannels: splitsChannels(values),
    section: sectionOf(values),
    exports: exportsOf(values),
    existing: skipExisting ? 'skip' : overwrite ? 'overwrite' : 'refuse',
    quiet,
  }
}

/** Throws if the formats include RTTM, but the task finds no speakers. */
export function requireSpeakers(formats: readonly Format[], { input, splitChannels }: Task): void {
  if (formats.includes('rttm') && !input.diarize && !splitChannels)
    throw new UsageError('rttm needs --diarize or --channels split')
}

function languageOf({ language }: TaskValues): string | null {
  if (language === undefined || language === 'auto') return null
  if (isLanguage(language)) return language
  const meant = findMeantLanguage(language)
  throw new UsageError(`${language} is not a language code${meant === null ? '' : `; use ${meant}`}`)
}

function splitsChannels({ channels, diarize }: TaskValues): boolean {
  if (channels !== 'mix' && channels !== 'split') throw new UsageError('--channels is mix or split')
  if (channels === 'split' && diarize)
    throw new UsageError('--channels split and --diarize exclude each other')
  return channels === 'split'
}

function speakersOf({ speakers, diarize }: TaskValues): number | null {
  if (speakers === undefined) return null
  if (!diarize) throw new UsageError('--speakers needs --diarize')
  return whole('speakers', speakers, { default: 1, min: 1, max: limits.speakerCountMax })
}

function exportsOf(values: TaskValues): ExportOptions {
  const speakers = values['include-speakers']
  if (speakers !== 'true' && speakers !== 'false' && speakers !== 'auto')
    throw new UsageError('--include-speakers is true, false or auto')
  return {
    maxWords: whole('max-words', values['max-words'], cueWords),
    maxChars: whole('max-chars', values['max-chars'], cueChars),
    maxDurationMs: whole('max-duration', values['max-duration'], cueSeconds) * 1000,
    sentenceAware: !values['no-sentences'],
    stripChars: values['strip-chars'] ?? '',
    includeSpeakers: speakers,
    includeTimestamps: values['include-timestamps'] ?? false,
  }
}

type Range = { default: number; min: number; max: number }

function whole(name: string, text: string | undefined, { default: fallback, min, max }: Range): number {
  const number = text === undefined ? fallback : parseWhole(text)
  if (!Number.isInteger(number) || number < min || number > max)
    throw new UsageError(`--${name} is a whole number from ${min} to ${max}`)
  return number
}
