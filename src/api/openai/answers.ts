// Writes a transcript in the response formats of OpenAI.

import type { Static } from '@sinclair/typebox'
import { wholeSeconds } from '../../accounts/price.ts'
import { writtenWithoutSpaces } from '../../languages.ts'
import { limits } from '../../limits.ts'
import { type ExportOptions, exporters } from '../../transcripts/exporters.ts'
import type { Transcript, Utterance, Word } from '../../transcripts/transcript.ts'
import type { Format, Wanted } from './fields.ts'
import type * as shapes from './shapes.ts'
import type { Task } from './shapes.ts'

/**
 * The limits of the cues in the subtitles that OpenAI's clients get. The maximum number of words has its highest value,
 * so that a cue may contain a whole sentence.
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

export function diarizedSegmentsOf({
  speakers,
  utterances,
}: Transcript): Static<typeof shapes.diarizedJson>['segments'] {
  return utterances.map(({ start, end, speaker, text }, index) => ({
    type: 'transcript.text.segment',
    id: `seg_${index}`,
    start,
    end,
    speaker: letterOf(Math.max(0, (speakers ?? []).indexOf(speaker ?? ''))),
    text,
  }))
}

/** Returns the letter for a speaker: A for the first one, B for the second one, and AA after Z. */
function letterOf(index: number): string {
  const letter = String.fromCharCode('A'.charCodeAt(0) + (index % 26))
  return index < 26 ? letter : `${letterOf(Math.floor(index / 26) - 1)}${letter}`
}

export function usageOf({ duration_seconds }: Transcript): Static<typeof shapes.json>['usage'] {
  return { type: 'duration', seconds: wholeSeconds(duration_seconds * 1000) }
}

/**
 * Returns the log probability of each word. OpenAI returns a log probability for each token, but a transcript has no
 * tokens.
 */
export function logprobsOf(transcript: Transcript): NonNullable<Static<typeof shapes.json>['logprobs']> {
  const spaced = !writtenWithoutSpaces(transcript.language)
  return wordsIn(transcript).map(({ word, confidence }, index) => {
    const token = spaced && index > 0 ? ` ${word}` : word
    return { token, bytes: [...new TextEncoder().encode(token)], logprob: logOf(confidence) }
  })
}

function wordsOf(transcript: Transcript): NonNullable<Static<typeof shapes.verboseJson>['words']> {
  return wordsIn(transcript).map(({ word, start, end }) => ({ word, start, end }))
}

function wordsIn({ utterances }: Transcript): Word[] {
  return utterances.flatMap(({ words }) => words)
}

type Segment = NonNullable<Static<typeof shapes.verboseJson>['segments']>[number]

/**
 * Converts an utterance to a segment in OpenAI's format. A transcript contains no tokens, no temperature and no
 * probability of silence. So `tokens` is empty, and `temperature` and `no_speech_prob` are 0.
 */
function segmentOf(
  { start, end, text, confidence, words }: Utterance,
  id: number,
  language: string,
): Segment {
  const logs = words.length > 0 ? words.map(word => logOf(word.confidence)) : [logOf(confidence)]
  return {
    id,
    seek: Math.round(start * framesPerSecond),
    start,
    end,
    text: writtenWithoutSpaces(language) ? text : ` ${text}`,
    tokens: [],
    temperature: 0,
    avg_logprob: logs.reduce((sum, log) => sum + log, 0) / logs.length,
    compression_ratio: compressionOf(text),
    no_speech_prob: 0,
  }
}

/**
 * The number of frames per second in Whisper's spectrogram. The field `seek` of a segment is a number of such frames.
 */
const framesPerSecond = 100
/**
 * The smallest probability whose logarithm is sent. It replaces the probability 0, because JSON cannot express the
 * logarithm of 0.
 */
const probabilityMin = 1e-6

function logOf(confidence: number | null): number {
  return Math.log(Math.max(probabilityMin, confidence ?? 1))
}

/**
 * Returns how much zlib compresses the text: the size of the text divided by its compressed size. A text with
 * repetitions has a high ratio.
 */
function compressionOf(text: string): number {
  const bytes = new TextEncoder().encode(text)
  // OpenAI measures a zlib stream, which is 6 bytes longer than the output of deflateSync.
  return bytes.length / (Bun.deflateSync(bytes).length + 6)
}

/** The languages whose name in Whisper differs from their name in `Intl.DisplayNames`, with Whisper's name of each. */
const whisperNames: Record<string, string> = { bn: 'bengali', mi: 'maori', my: 'myanmar', nn: 'nynorsk' }
const names = new Intl.DisplayNames(['en'], { type: 'language' })

/** Returns the English name of a language, as Whisper writes it: `english` for `en`. */
export function languageName(code: string): string {
  return whisperNames[code] ?? names.of(code)?.toLowerCase() ?? code
}
