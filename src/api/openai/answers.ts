// Writes a transcript in the response formats of OpenAI.

import type { Static } from '@sinclair/typebox'
import { wholeSeconds } from '../../accounts/price.ts'
import { limits } from '../../limits.ts'
import type { ExportOptions } from '../../transcripts/export-options.ts'
import { exporters } from '../../transcripts/exporters.ts'
import type { Transcript } from '../../transcripts/transcript.ts'
import type { Format, Wanted } from './options.ts'
import { diarizedSegmentsOf, segmentOf } from './segments.ts'
import type { Task } from './shapes/forms.ts'
import type * as shapes from './shapes/replies.ts'
import { logprobsOf, wordsOf } from './words.ts'

/**
 * The limits of a cue (one subtitle) in the formats srt and vtt. `maxWords` is the highest value that the API allows,
 * so that a short sentence is not divided into two cues.
 */
const cues: ExportOptions = {
  maxWords: limits.cueWords.max,
  maxChars: limits.cueChars.default,
  maxDurationMs: limits.cueSeconds.default * 1000,
  sentenceAware: true,
  includeSpeakers: 'false',
  includeTimestamps: false,
  stripChars: '',
}

type Choice = Pick<Wanted, 'granularities' | 'logprobs'> & { task: Task }

/** The Content-Type of each response format, and the function that writes the body. */
export const writers: Record<
  Format,
  { type: string; write: (transcript: Transcript, choice: Choice) => string }
> = {
  json: jsonWriter(jsonOf),
  verbose_json: jsonWriter(verboseJsonOf),
  diarized_json: jsonWriter(diarizedJsonOf),
  text: { type: 'text/plain; charset=utf-8', write: ({ full_transcript }) => `${full_transcript}\n` },
  srt: { type: exporters.srt.type, write: transcript => exporters.srt.write(transcript, cues) },
  vtt: { type: exporters.vtt.type, write: transcript => exporters.vtt.write(transcript, cues) },
}

function jsonWriter(bodyOf: (transcript: Transcript, choice: Choice) => object) {
  return {
    type: 'application/json',
    write: (transcript: Transcript, choice: Choice) => JSON.stringify(bodyOf(transcript, choice)),
  }
}

function jsonOf(transcript: Transcript, { logprobs }: Choice): Static<typeof shapes.json> {
  return {
    text: transcript.full_transcript,
    languages: [{ code: transcript.language }],
    ...(logprobs ? { logprobs: logprobsOf(transcript) } : {}),
    usage: usageOf(transcript),
  }
}

function verboseJsonOf(
  transcript: Transcript,
  { task, granularities }: Choice,
): Static<typeof shapes.verboseJson> {
  const { language, utterances } = transcript
  return {
    task,
    language: languageName(language),
    duration: transcript.duration_seconds,
    text: transcript.full_transcript,
    ...(granularities.includes('segment')
      ? { segments: utterances.map((utterance, id) => segmentOf(utterance, id, language)) }
      : {}),
    ...(granularities.includes('word') ? { words: wordsOf(transcript) } : {}),
    usage: usageOf(transcript),
  }
}

function diarizedJsonOf(transcript: Transcript): Static<typeof shapes.diarizedJson> {
  return {
    task: 'transcribe',
    duration: transcript.duration_seconds,
    text: transcript.full_transcript,
    segments: diarizedSegmentsOf(transcript),
    usage: usageOf(transcript),
  }
}

function usageOf({ duration_seconds }: Transcript): Static<typeof shapes.json>['usage'] {
  return { type: 'duration', seconds: wholeSeconds(duration_seconds * 1000) }
}

/** Whisper's names for the languages to which `Intl.DisplayNames` gives another name, by language code. */
const whisperNames: Record<string, string> = { bn: 'bengali', mi: 'maori', my: 'myanmar', nn: 'nynorsk' }
/**
 * The English names of languages. This object is created at its first use, because its creation takes more than a
 * millisecond.
 */
let names: Intl.DisplayNames | null = null

/** Returns the English name of a language, as Whisper writes it: `english` for `en`. */
function languageName(code: string): string {
  names ??= new Intl.DisplayNames(['en'], { type: 'language' })
  return whisperNames[code] ?? names.of(code)?.toLowerCase() ?? code
}
