// Writes the utterances of a transcript as segments in OpenAI's formats.

import type { Static } from '@sinclair/typebox'
import { writtenWithoutSpaces } from '../../languages.ts'
import type { Transcript, Utterance } from '../../transcripts/transcript.ts'
import type * as shapes from './shapes/replies.ts'
import { logOf } from './words.ts'

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

/** Returns the letter for a speaker: A, B and so on, and AA after Z. */
function letterOf(index: number): string {
  const letter = String.fromCharCode('A'.charCodeAt(0) + (index % 26))
  return index < 26 ? letter : `${letterOf(Math.floor(index / 26) - 1)}${letter}`
}

type Segment = NonNullable<Static<typeof shapes.verboseJson>['segments']>[number]

/**
 * Converts an utterance to a segment in OpenAI's format. A transcript has no tokens, temperature or silence
 * probability, so these fields are empty or 0.
 */
export function segmentOf(
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

/** The frames per second in Whisper's spectrogram. The field `seek` of a segment is a number of such frames. */
const framesPerSecond = 100

/**
 * Returns the size of the text divided by its size after zlib compression. A text with repetitions has a high ratio.
 */
function compressionOf(text: string): number {
  const bytes = new TextEncoder().encode(text)
  // OpenAI divides by the length of a zlib stream, which is 6 bytes longer than the output of deflateSync.
  return bytes.length / (Bun.deflateSync(bytes).length + 6)
}
