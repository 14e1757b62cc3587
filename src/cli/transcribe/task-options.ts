// The options of the commands `transcribe` and `watch`.

import { languages } from '../../languages.ts'
import { limits } from '../../limits.ts'
import type { ValuesOf } from '../command.ts'
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
  language: 'the spoken language, such as de, or auto to detect it (auto)',
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
  quiet: 'print errors, warnings and notes of the engine only',
}

/** A paragraph of help for the option --language. */
export const languageHelp = `Languages: ${languages.toSorted().join(' ')}.`

export const taskChoices = {
  language: ['auto', ...languages],
  format: formatNames,
  device: ['auto', 'cpu', 'cuda', 'webgpu'],
  channels: ['mix', 'split'],
  'include-speakers': ['auto', 'true', 'false'],
}

export type TaskValues = ValuesOf<typeof taskOptions>
