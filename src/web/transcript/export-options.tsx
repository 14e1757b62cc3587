// The options of the export dialog, and their input fields. For the whole transcript, this file converts the options to
// the query of a request to the server. For a selected passage, it writes the text of the passage.

import { useSignal } from '@preact/signals'
import { Check, Field } from '../parts/field.tsx'
import { words } from '../words.ts'
import type { Passage } from './passage.ts'
import { writePassage } from './passage-files.ts'
import type { Studio } from './studio.ts'

const text = words.exports

export type Format = 'text' | 'srt' | 'vtt' | 'json'

/** The default limits of a subtitle in the export dialog. An empty field has its default. */
const usual = { maxWords: '14', maxChars: '80', maxSeconds: '6' }

/** The options of the export dialog. Each option is stored in a signal, and a field of the dialog sets its value. */
export function useOptions(studio: Studio) {
  return {
    format: useSignal<Format>('text'),
    isPart: useSignal(studio.passage.value !== null),
    speakers: useSignal(studio.speakerCount > 1),
    times: useSignal(false),
    maxWords: useSignal(usual.maxWords),
    maxChars: useSignal(usual.maxChars),
    maxSeconds: useSignal(usual.maxSeconds),
    sentences: useSignal(true),
  }
}

export type Options = ReturnType<typeof useOptions>

export function CueOptions({ options, isPart }: { options: Options; isPart: boolean }) {
  return (
    <>
      <Field
        label={text.maxWords}
        type="number"
        min={1}
        max={50}
        of={options.maxWords}
        placeholder={usual.maxWords}
      />
      <Field
        label={text.maxChars}
        type="number"
        min={10}
        max={500}
        of={options.maxChars}
        placeholder={usual.maxChars}
      />
      <Field
        label={text.maxSeconds}
        type="number"
        min={1}
        max={60}
        of={options.maxSeconds}
        placeholder={usual.maxSeconds}
      />
      {!isPart && <Check label={text.sentences} of={options.sentences} />}
    </>
  )
}

export function queryOf(options: Options): Record<string, string> {
  const { format, speakers, times, sentences } = options
  const { maxWords, maxChars, maxSeconds } = limitsIn(options)
  const include = String(speakers.value)
  if (format.value === 'json') return { format: 'json' }
  if (format.value === 'text')
    return { format: 'text', include_speakers: include, include_timestamps: String(times.value) }
  return {
    format: format.value,
    include_speakers: include,
    max_words: maxWords,
    max_chars: maxChars,
    max_duration: maxSeconds,
    sentence_aware: String(sentences.value),
  }
}

function limitsIn({ maxWords, maxChars, maxSeconds }: Options): typeof usual {
  return {
    maxWords: maxWords.value || usual.maxWords,
    maxChars: maxChars.value || usual.maxChars,
    maxSeconds: maxSeconds.value || usual.maxSeconds,
  }
}

/**
 * Returns the content of a file that contains only the selected passage. Returns null if the format cannot contain a
 * part of a transcript.
 */
export function partOf({ view }: Studio, selected: Passage, options: Options): string | null {
  const format = options.format.value
  if (!view || format === 'json') return null
  const { maxWords, maxChars, maxSeconds } = limitsIn(options)
  return writePassage(view, selected, {
    format,
    withSpeakers: options.speakers.value,
    withTimes: options.times.value,
    maxWords: Number(maxWords),
    maxChars: Number(maxChars),
    maxSeconds: Number(maxSeconds),
  })
}
