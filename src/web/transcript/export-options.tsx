// The options of the export dialog, and their input fields. For the whole transcript, this file makes the query of a
// server request. For a selected passage, it writes the text.

import { useSignal } from '@preact/signals'
import { Check, Field } from '../parts/field.tsx'
import { words } from '../words.ts'
import type { Passage } from './passage.ts'
import { writePassage } from './passage-files.ts'
import type { Studio } from './studio.ts'

const text = words.exports

export type Format = 'text' | 'srt' | 'vtt' | 'json'

/**
 * The limits for the length of a subtitle cue: for each input field, the allowed range and the default of an empty
 * field.
 */
const cueLimits = {
  maxWords: { min: 1, max: 50, default: '14' },
  maxChars: { min: 10, max: 500, default: '80' },
  maxSeconds: { min: 1, max: 60, default: '6' },
}

type CueLimit = keyof typeof cueLimits

const cueLimitNames: CueLimit[] = ['maxWords', 'maxChars', 'maxSeconds']

/** The options of the export dialog, each in a signal that a field of the dialog sets. */
export function useOptions(studio: Studio) {
  return {
    format: useSignal<Format>('text'),
    isPart: useSignal(studio.passage.value !== null),
    speakers: useSignal(studio.speakerCount > 1),
    times: useSignal(false),
    maxWords: useSignal(cueLimits.maxWords.default),
    maxChars: useSignal(cueLimits.maxChars.default),
    maxSeconds: useSignal(cueLimits.maxSeconds.default),
    sentences: useSignal(true),
  }
}

export type Options = ReturnType<typeof useOptions>

export function CueOptions({ options, isPart }: { options: Options; isPart: boolean }) {
  return (
    <>
      {cueLimitNames.map(name => (
        <Field
          key={name}
          label={text[name]}
          type="number"
          min={cueLimits[name].min}
          max={cueLimits[name].max}
          of={options[name]}
          placeholder={cueLimits[name].default}
        />
      ))}
      {!isPart && <Check label={text.sentences} of={options.sentences} />}
    </>
  )
}

export function queryOf(options: Options): Record<string, string> {
  const { format, speakers, times, sentences } = options
  const include = String(speakers.value)
  if (format.value === 'json') return { format: 'json' }
  if (format.value === 'text')
    return { format: 'text', include_speakers: include, include_timestamps: String(times.value) }
  return {
    format: format.value,
    include_speakers: include,
    max_words: limitOf(options, 'maxWords'),
    max_chars: limitOf(options, 'maxChars'),
    max_duration: limitOf(options, 'maxSeconds'),
    sentence_aware: String(sentences.value),
  }
}

function limitOf(options: Options, name: CueLimit): string {
  return options[name].value || cueLimits[name].default
}

/**
 * Returns a file's content with only the selected passage. Returns null if the format supports only the whole
 * transcript, or if `view` is null.
 */
export function partOf({ view }: Studio, selected: Passage, options: Options): string | null {
  const format = options.format.value
  if (!view || format === 'json') return null
  return writePassage(view, selected, {
    format,
    withSpeakers: options.speakers.value,
    withTimes: options.times.value,
    maxWords: Number(limitOf(options, 'maxWords')),
    maxChars: Number(limitOf(options, 'maxChars')),
    maxSeconds: Number(limitOf(options, 'maxSeconds')),
  })
}
