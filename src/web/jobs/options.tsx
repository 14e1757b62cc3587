// The options that the person chooses for the next jobs: language, speakers, prompt and vocabulary.

import { effect } from '@preact/signals'
import { personalNames, session } from '../account/session.ts'
import { showLanguage } from '../base/format.ts'
import { service } from '../base/service.ts'
import { store, stored, storedSignal } from '../base/storage.ts'
import { Check, Choice, Field } from '../parts/field.tsx'
import { words } from '../words.ts'
import type { JobOptions } from './job.ts'

const text = words.options

// The limits of the API for the options of a job.
const speakersMax = 50
const promptLengthMax = 1000
const termsMax = 100
const termLengthMax = 80

const language = storedSignal('options.language', '')
const diarize = storedSignal('options.diarize', true)
const speakers = storedSignal('options.speakers', '')
const [promptName, vocabularyName] = personalNames
const prompt = storedSignal(promptName, '')
const vocabulary = storedSignal(vocabularyName, '')

// A session may end without a sign-out. If another account then signs in, the prompt and the vocabulary of the first
// account must not stay in the form.
effect(() => {
  const accountId = session.value?.account_id
  if (accountId === undefined) return
  const before = stored<string>('options.account')
  if (before === accountId) return
  store('options.account', accountId)
  if (before === null) return
  prompt.value = ''
  vocabulary.value = ''
})

/** Returns the chosen options as the fields of the API's request. */
export function chosenOptions(): JobOptions {
  const about = prompt.value.trim()
  const terms = chosenTerms()
  // The chosen language may come from an earlier visit. It is left out if the server no longer has a model for it.
  const isServed = service.value === null || languages().some(([code]) => code === language.value)
  return {
    diarize: diarize.value,
    ...(language.value && isServed ? { language: language.value } : {}),
    ...(diarize.value && speakers.value !== '' ? { speaker_count: Number(speakers.value) } : {}),
    ...(about ? { prompt: about } : {}),
    ...(terms.length > 0 ? { vocabulary: terms } : {}),
  }
}

/**
 * Returns the reason why the server would refuse the chosen options, or null if there is none. The page checks the
 * options before an upload, because the server checks them only after the whole file has arrived.
 */
export function reasonAgainstOptions(): string | null {
  const count = Number(speakers.value)
  const isCount = Number.isInteger(count) && count >= 1 && count <= speakersMax
  if (diarize.value && speakers.value !== '' && !isCount) return text.wrongSpeakers(speakersMax)
  const terms = chosenTerms()
  const long = terms.map(term => [...term]).find(({ length }) => length > termLengthMax)
  if (long) return text.longTerm(`${long.slice(0, termLengthMax).join('')}…`, termLengthMax)
  return terms.length > termsMax ? text.manyTerms(terms.length, termsMax) : null
}

function chosenTerms(): string[] {
  return vocabulary.value
    .split(/[,\n،，、]/)
    .map(term => term.trim())
    .filter(Boolean)
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
          max={speakersMax}
          placeholder={text.anyNumber}
          of={speakers}
        />
      )}
      <details>
        <summary>{text.more}</summary>
        <Field label={text.prompt} hint={text.promptHint} maxLength={promptLengthMax} of={prompt} />
        <Field label={text.vocabulary} hint={text.vocabularyHint} of={vocabulary} />
      </details>
    </fieldset>
  )
}

/**
 * Returns the languages that the server's models support, sorted by their displayed names. The first entry is the
 * automatic detection.
 */
function languages(): [string, string][] {
  const served = service.value?.languages.filter(language => language.served) ?? []
  const named = served.map(({ code }): [string, string] => [code, showLanguage(code)])
  return [['', text.anyLanguage], ...named.toSorted(([, a], [, b]) => a.localeCompare(b))]
}
