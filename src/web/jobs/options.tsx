// The options that the person chooses for the next jobs: language, speakers and expected words.

import { showLanguage } from '../base/format.ts'
import { service } from '../base/service.ts'
import { storedSignal } from '../base/storage.ts'
import { Check, Choice, Field } from '../parts/field.tsx'
import { words } from '../words.ts'
import type { JobOptions } from './job.ts'

const text = words.options

const language = storedSignal('options.language', '')
const diarize = storedSignal('options.diarize', true)
const speakers = storedSignal('options.speakers', '')
const prompt = storedSignal('options.prompt', '')
const vocabulary = storedSignal('options.vocabulary', '')

/** Returns the chosen options as the fields of the API's request. */
export function chosenOptions(): JobOptions {
  const about = prompt.value.trim()
  const count = Number(speakers.value)
  const terms = vocabulary.value
    .split(/[,\n]/)
    .map(term => term.trim())
    .filter(Boolean)
  return {
    diarize: diarize.value,
    ...(language.value ? { language: language.value } : {}),
    ...(diarize.value && count >= 1 ? { speaker_count: count } : {}),
    ...(about ? { prompt: about } : {}),
    ...(terms.length > 0 ? { vocabulary: terms } : {}),
  }
}

export function Options() {
  return (
    <fieldset class="options">
      <legend class="unseen">{text.title}</legend>
      <Choice label={text.language} of={language} options={languages()} />
      <Check label={text.diarize} of={diarize} />
      {diarize.value && (
        <Field
          label={text.speakers}
          type="number"
          min={1}
          max={50}
          placeholder={text.anyNumber}
          of={speakers}
        />
      )}
      <details>
        <summary>{text.more}</summary>
        <Field label={text.prompt} hint={text.promptHint} maxLength={1000} of={prompt} />
        <Field label={text.vocabulary} hint={text.vocabularyHint} of={vocabulary} />
      </details>
    </fieldset>
  )
}

/**
 * Returns the languages that the server's models support, sorted by their names in the browser's language. The first
 * entry is the automatic detection.
 */
function languages(): [string, string][] {
  const served = service.value?.languages.filter(language => language.served) ?? []
  const named = served.map(({ code }): [string, string] => [code, showLanguage(code)])
  return [['', text.anyLanguage], ...named.toSorted(([, a], [, b]) => a.localeCompare(b))]
}
