// The options of the next jobs: the language, the speakers, and the expected words.

import { signal } from '@preact/signals'
import { showLanguage } from '../base/format.ts'
import { service } from '../base/service.ts'
import { store, stored } from '../base/storage.ts'
import { Check, Choice, Field } from '../parts/form.tsx'
import { words } from '../words.ts'
import type { JobOptions } from './job.ts'

type Choices = { language: string; diarize: boolean; speakers: string; prompt: string; vocabulary: string }

const text = words.options
const none: Choices = { language: '', diarize: true, speakers: '', prompt: '', vocabulary: '' }
const choices = signal<Choices>({ ...none, ...stored<Choices>('options') })

function choose(change: Partial<Choices>): void {
  choices.value = { ...choices.value, ...change }
  store('options', choices.value)
}

/** Returns the chosen options in the form of the API. */
export function chosenOptions(): JobOptions {
  const { language, diarize, speakers, prompt, vocabulary } = choices.value
  const terms = vocabulary
    .split(/[,\n]/)
    .map(term => term.trim())
    .filter(Boolean)
  return {
    diarize,
    ...(language ? { language } : {}),
    ...(diarize && Number(speakers) >= 1 ? { speaker_count: Number(speakers) } : {}),
    ...(prompt.trim() ? { prompt: prompt.trim() } : {}),
    ...(terms.length > 0 ? { vocabulary: terms } : {}),
  }
}

export function Options() {
  const { language, diarize, speakers, prompt, vocabulary } = choices.value
  return (
    <fieldset class="options">
      <legend class="unseen">{text.title}</legend>
      <Choice
        label={text.language}
        value={language}
        options={languages()}
        onValue={value => choose({ language: value })}
      />
      <Check label={text.diarize} checked={diarize} onValue={value => choose({ diarize: value })} />
      {diarize && (
        <Field
          label={text.speakers}
          type="number"
          min={1}
          max={50}
          placeholder={text.anyNumber}
          value={speakers}
          onValue={value => choose({ speakers: value })}
        />
      )}
      <details>
        <summary>{text.more}</summary>
        <Field
          label={text.prompt}
          hint={text.promptHint}
          maxLength={1000}
          value={prompt}
          onValue={value => choose({ prompt: value })}
        />
        <Field
          label={text.vocabulary}
          hint={text.vocabularyHint}
          value={vocabulary}
          onValue={value => choose({ vocabulary: value })}
        />
      </details>
    </fieldset>
  )
}

/**
 * Returns the languages that a model of this server supports, sorted by name in the language of the browser.
 */
function languages(): [string, string][] {
  const served = service.value?.languages.filter(language => language.served) ?? []
  const named = served.map(({ code }): [string, string] => [code, showLanguage(code)])
  return [['', text.anyLanguage], ...named.toSorted(([, a], [, b]) => a.localeCompare(b))]
}
