// The warnings about speech whose text is doubtful or missing.

import { seconds } from './audio.ts'
import type { SpeechWarning } from './hear/speech-model.ts'
import type { Span } from './hear/speech-spans.ts'

const sentences: Record<SpeechWarning, string> = {
  'text doubtful': 'The text may be wrong or incomplete',
  'speech without text': 'Speech was heard but not understood',
}

/** A warning names at most this many spans. If there are more, the warning says how many more. */
const spansShownMax = 10

/** The spans of a recording, in samples, to which each of the warnings applies. */
export type WarnedSpans = Record<SpeechWarning, Span[]>

/**
 * Returns one sentence for each kind of warning that has spans. A section is the part of the recording that is
 * transcribed, and begins at `fromMs`. The spans count from the start of the section. The times in a sentence count
 * from the start of the recording.
 */
export function speechWarnings(spans: WarnedSpans, fromMs: number): string[] {
  const kinds = Object.keys(sentences) as SpeechWarning[]
  return kinds.flatMap(kind => {
    const places = joined(spans[kind].map(span => inSeconds(span, fromMs))).map(
      ({ from, to }) => `${from} to ${to} s`,
    )
    if (places.length === 0) return []
    const others = places.length - spansShownMax
    const more = others > 0 ? ` and ${others} more` : ''
    return [`${sentences[kind]} at ${places.slice(0, spansShownMax).join(', ')}${more}.`]
  })
}

/**
 * Converts a span from samples to whole seconds. The samples count from the start of the section (the transcribed part
 * of the recording), which begins at `fromMs`. The seconds count from the start of the recording. The result contains
 * the whole span.
 */
export function inSeconds({ from, to }: Span, fromMs: number): Span {
  const start = fromMs / 1000
  return { from: Math.floor(start + seconds(from)), to: Math.ceil(start + seconds(to)) }
}

/** Sorts the spans by time, and joins spans that touch or overlap. */
function joined(spans: readonly Span[]): Span[] {
  const result: Span[] = []
  for (const { from, to } of spans.toSorted((one, other) => one.from - other.from)) {
    const last = result.at(-1)
    if (last && from <= last.to) last.to = Math.max(last.to, to)
    else result.push({ from, to })
  }
  return result
}
