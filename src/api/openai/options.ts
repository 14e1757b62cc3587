// Parses and validates the form fields of a request for a transcription or a translation.

import { findMeantLanguage, isLanguage } from '../../languages.ts'
import { limits } from '../../limits.ts'
import { invalidField, OpenAiError } from './errors.ts'
import { choiceOf, choicesOf, type Fields, flagOf, missing, shown } from './fields.ts'
import { granularities, includes, type Task, tasks } from './shapes/forms.ts'

export type Format = (typeof tasks)['transcribe']['formats'][number]
export type Granularity = (typeof granularities)[number]

/** The options of a transcription or translation, after validation. The caller sends them as form fields. */
export type Wanted = {
  format: Format
  granularities: readonly Granularity[]
  language: string | null
  prompt: string | null
  vocabulary: readonly string[]
  logprobs: boolean
  stream: boolean
}

export function readFields(fields: Fields, task: Task): Wanted {
  if (fields.one('model') === null) throw missing('model')
  checkTemperature(fields)
  checkUnsupported(fields)
  const format = choiceOf(fields, 'response_format', tasks[task].formats) ?? 'json'
  const common = {
    format,
    granularities: granularitiesOf(fields, format),
    prompt: lastCharacters(fields.one('prompt')),
  }
  if (task === 'translate')
    return { ...common, language: null, vocabulary: [], logprobs: false, stream: false }
  checkChunking(fields)
  return {
    ...common,
    language: languageOf(fields),
    vocabulary: vocabularyOf(fields),
    logprobs: choicesOf(fields, 'include', includes).includes('logprobs'),
    stream: flagOf(fields, 'stream'),
  }
}

/** Returns the end of a prompt: as many characters as a job accepts. Counts characters, not UTF-16 code units. */
function lastCharacters(prompt: string | null): string | null {
  return prompt === null ? null : [...prompt].slice(-limits.promptLengthMax).join('')
}

function granularitiesOf(fields: Fields, format: Format): readonly Granularity[] {
  const wanted = choicesOf(fields, 'timestamp_granularities', granularities)
  // OpenAI ignores `timestamp_granularities` for its models whose names begin with gpt-. The Vercel AI SDK sends the
  // field also for these models, so the field must not cause an error for them.
  const isIgnored = fields.one('model')?.startsWith('gpt-')
  if (wanted.length > 0 && format !== 'verbose_json' && !isIgnored) {
    throw invalidField(
      'timestamp_granularities',
      `timestamp_granularities needs response_format verbose_json, but response_format is ${format}.`,
    )
  }
  return wanted.length > 0 ? wanted : ['segment']
}

function checkTemperature(fields: Fields): void {
  const value = fields.one('temperature')
  if (value === null) return
  if (/^(?:\d+|\d*\.\d+)(?:e-?\d+)?$/i.test(value) && Number(value) <= 1) return
  throw invalidField('temperature', `Invalid value: '${shown(value)}'. temperature is a number from 0 to 1.`)
}

/**
 * Throws if the form has a field with names or samples of known voices. The service cannot use such samples. Ignoring
 * these fields would give wrong names of speakers.
 */
function checkUnsupported(fields: Fields): void {
  for (const name of ['known_speaker_names', 'known_speaker_references']) {
    if (fields.many(name).length > 0)
      throw invalidField(name, `Unsupported parameter: '${name}'.`, 'unsupported_parameter')
  }
}

/**
 * Returns the value of the field `language`, or else the only value of the list `languages`. Otherwise returns null:
 * the engine then detects the language.
 */
function languageOf(fields: Fields): string | null {
  const language = fields.one('language')
  const several = fields.many('languages')
  if (language !== null) requireLanguage('language', language)
  for (const each of several) requireLanguage('languages', each)
  const [only] = several
  return language ?? (several.length === 1 && only ? only : null)
}

function requireLanguage(param: string, language: string): void {
  if (isLanguage(language)) return
  const meant = findMeantLanguage(language)
  const advice = meant === null ? '' : ` Use '${meant}'.`
  throw new OpenAiError(
    'INVALID_REQUEST',
    `Invalid language '${shown(language)}'. Language parameter must be specified in ISO-639-1 format.${advice}`,
    { param, reason: 'invalid_language_format' },
  )
}

function vocabularyOf(fields: Fields): readonly string[] {
  const terms = fields.many('keywords')
  const { vocabularyTermsMax, vocabularyTermLengthMax } = limits
  if (terms.length <= vocabularyTermsMax && terms.every(term => [...term].length <= vocabularyTermLengthMax))
    return terms
  throw invalidField(
    'keywords',
    `keywords takes at most ${vocabularyTermsMax} terms of ${vocabularyTermLengthMax} characters.`,
  )
}

/** Throws if `chunking_strategy` is invalid. A valid value has no effect: steno always divides sound at pauses. */
function checkChunking(fields: Fields): void {
  const name = 'chunking_strategy'
  const type = fields.one(`${name}[type]`) ?? typeOfChunking(fields.one(name))
  const options = fields.names().filter(field => field.startsWith(`${name}[`) && field !== `${name}[type]`)
  if (type === null && options.length === 0) return
  if (type === 'server_vad' || (type === 'auto' && options.length === 0)) return
  throw invalidField(name, "chunking_strategy is 'auto', or an object with type 'server_vad'.")
}

function typeOfChunking(value: string | null): string | null {
  if (value === null || value === 'auto') return value
  try {
    const parsed: { type?: unknown } | null = JSON.parse(value)
    return parsed?.type === 'server_vad' ? 'server_vad' : 'unknown'
  } catch {
    return 'unknown'
  }
}
