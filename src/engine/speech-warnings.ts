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
 * Returns one sentence for each kind of warning that has spans. The spans count from the start of the transcribed
 * section, and the times in a sentence from the start of the recording. `fromMs` is the start of the section in the
 * recording.
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
 * Converts a span of the transcribed section, in samples, to whole seconds of the recording. `fromMs` is the start of
 * the section in the recording. The result contains the whole span.
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
