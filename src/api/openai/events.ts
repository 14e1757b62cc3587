// Encodes the server-sent events for a transcription request with `stream`.

import type { LiveJob } from '../../jobs/live.ts'
import { withGap } from '../../transcripts/join-texts.ts'
import type { Transcript } from '../../transcripts/transcript.ts'
import type { Wanted } from './options.ts'
import { diarizedSegmentsOf } from './segments.ts'
import { logprobsOf } from './words.ts'

function eventOf(data: { type: string; [field: string]: unknown }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
}

/** The part of the transcript's text that has been sent to the caller. */
export class TextSoFar {
  #text = ''
  #utterances = 0
  /** The text of the last utterance that was sent. */
  #last: string | undefined

  /** Returns the events of the utterances that were not sent yet. `utterances` has all utterances up to now. */
  add({ utterances, language }: Pick<LiveJob, 'utterances' | 'language'>): string {
    const fresh = utterances.slice(this.#utterances)
    this.#utterances = Math.max(this.#utterances, utterances.length)
    return fresh
      .map(({ text }) => {
        const delta = withGap(text, this.#last, language)
        this.#last = text
        return this.#send(delta)
      })
      .join('')
  }

  /**
   * Returns the event with the part of the text that was not sent yet. Returns an empty string if there is none, or if
   * `full` does not begin with the sent text.
   */
  finish(full: string): string {
    const rest = full.startsWith(this.#text) ? full.slice(this.#text.length) : ''
    return rest === '' ? '' : this.#send(rest)
  }

  #send(delta: string): string {
    this.#text += delta
    return eventOf({ type: 'transcript.text.delta', delta })
  }
}

/**
 * Returns the last events of a transcription: the text that was not sent yet, the segments if `format` is
 * diarized_json, and the end event.
 */
export function lastEvents(
  transcript: Transcript,
  { format, logprobs }: Pick<Wanted, 'format' | 'logprobs'>,
  sent: TextSoFar,
): string {
  const segments = format === 'diarized_json' ? diarizedSegmentsOf(transcript) : []
  const done = {
    type: 'transcript.text.done',
    text: transcript.full_transcript,
    languages: [{ code: transcript.language }],
    ...(logprobs ? { logprobs: logprobsOf(transcript) } : {}),
  }
  return `${sent.finish(transcript.full_transcript)}${[...segments, done].map(eventOf).join('')}data: [DONE]\n\n`
}
