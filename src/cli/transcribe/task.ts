// The options of the commands `transcribe` and `watch`, and the transcription task that results from these options.

import type { TranscribeChoices } from '../../engine/request.ts'
import { findMeantLanguage, isLanguage } from '../../languages.ts'
import { limits } from '../../limits.ts'
import type { ExportOptions } from '../../transcripts/exporters.ts'
import { UsageError, type ValuesOf } from '../command.ts'
import { dataOption } from '../settings.ts'
import { formatNames } from './formats.ts'

export const taskOptions = {
  out: { type: 'string', short: 'o' },
  format: { type: 'string', short: 'f' },
  recursive: { type: 'boolean', short: 'r', default: false },
  overwrite: { type: 'boolean', default: false },
  language: { type: 'string', short: 'l' },
  diarize: { type: 'boolean', default: false },
  speakers: { type: 'string' },
  channels: { type: 'string', default: 'mix' },
  prompt: { type: 'string' },
  vocabulary: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  model: { type: 'string', short: 'm' },
  device: { type: 'string' },
  threads: { type: 'string' },
  'no-align': { type: 'boolean', default: false },
  'max-words': { type: 'string' },
  'max-chars': { type: 'string' },
  'max-duration': { type: 'string' },
  'strip-chars': { type: 'string', default: '' },
  'no-sentences': { type: 'boolean', default: false },
  'include-speakers': { type: 'string', default: 'auto' },
  'include-timestamps': { type: 'boolean', default: false },
  quiet: { type: 'boolean', short: 'q', default: false },
  ...dataOption,
} as const

const { cueWords, cueChars, cueSeconds } = limits

export const taskHelp = {
  out: 'a folder, or one file whose extension names the format; standard output by default',
  format: `${formatNames.join(', ')}; several with commas between them (text)`,
  recursive: 'also take the folders inside folders',
  overwrite: 'replace files that exist; by default they are an error',
  language: 'the spoken language, such as de; detected by default',
  diarize: 'tell speakers apart',
  speakers: `how many speakers to expect, 1 to ${limits.speakerCountMax}; needs --diarize`,
  channels: 'mix, or split: each channel is one speaker (mix)',
  prompt: 'text as it could stand before the recording: names, style, punctuation',
  vocabulary: 'terms that may be said, with commas between them',
  from: 'where to begin, such as 90, 1:30 or 1:02:03.5',
  to: 'where to end',
  model: 'model id or model folder; steno models list shows the ids',
  device: 'auto, cpu, cuda or webgpu (auto)',
  threads: 'threads of the engine; all cores by default',
  'no-align': 'no times of words',
  'max-words': `most words of a subtitle, ${cueWords.min} to ${cueWords.max} (${cueWords.default})`,
  'max-chars': `most characters of a subtitle, ${cueChars.min} to ${cueChars.max} (${cueChars.default})`,
  'max-duration': `longest subtitle in seconds, ${cueSeconds.min} to ${cueSeconds.max} (${cueSeconds.default})`,
  'strip-chars': 'characters to leave out',
  'no-sentences': 'do not end a subtitle where a sentence ends',
  'include-speakers': 'true, false or auto: name the speakers (auto)',
  'include-timestamps': 'begin each paragraph of text with its time',
  quiet: 'print errors only',
}

export const taskChoices = {
  format: formatNames,
  device: ['auto', 'cpu', 'cuda', 'webgpu'],
  channels: ['mix', 'split'],
  'include-speakers': ['auto', 'true', 'false'],
}

export type TaskValues = ValuesOf<typeof taskOptions>

/**
 * The part of the recording to transcribe, in milliseconds. `toMs` is null if the part lasts until the end of the
 * recording.
 */
export type Section = { fromMs: number; toMs: number | null }

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

function languageOf({ language }: TaskValues): string | null {
  if (language === undefined) return null
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
  const number = text === undefined ? fallback : Number(text)
  if (!Number.isInteger(number) || number < min || number > max)
    throw new UsageError(`--${name} is a whole number from ${min} to ${max}`)
  return number
}

function sectionOf({ from, to }: TaskValues): Section {
  const fromMs = from === undefined ? 0 : timeOf('from', from)
  const toMs = to === undefined ? null : timeOf('to', to)
  if (toMs !== null && toMs <= fromMs) throw new UsageError('--to is not after --from')
  return { fromMs, toMs }
}

/** Converts a time such as `90`, `1:30` or `1:02:03.5` to milliseconds. */
function timeOf(name: string, text: string): number {
  const parts = /^(?:(?:(\d+):)?(\d{1,2}):)?(\d+(?:\.\d+)?)$/.exec(text)
  if (parts === null) throw new UsageError(`--${name} is a time such as 90, 1:30 or 1:02:03.5`)
  const [hours = 0, minutes = 0, seconds = 0] = parts.slice(1).map(part => Number(part ?? 0))
  return Math.round(((hours * 60 + minutes) * 60 + seconds) * 1000)
}
