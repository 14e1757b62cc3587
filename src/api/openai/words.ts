// Writes the words of a transcript in OpenAI's formats, with their times or their log probabilities.

import type { Static } from '@sinclair/typebox'
import { writtenWithoutSpaces } from '../../languages.ts'
import type { Transcript, Word } from '../../transcripts/transcript.ts'
import type * as shapes from './shapes/replies.ts'

/** Returns the log probability of each word. OpenAI returns one for each token, but a transcript has no tokens. */
export function logprobsOf(transcript: Transcript): NonNullable<Static<typeof shapes.json>['logprobs']> {
  const spaced = !writtenWithoutSpaces(transcript.language)
  return wordsIn(transcript).map(({ word, confidence }, index) => {
    const token = spaced && index > 0 ? ` ${word}` : word
    return { token, bytes: [...new TextEncoder().encode(token)], logprob: logOf(confidence) }
  })
}

export function wordsOf(transcript: Transcript): NonNullable<Static<typeof shapes.verboseJson>['words']> {
  return wordsIn(transcript).map(({ word, start, end }) => ({ word, start, end }))
}

function wordsIn({ utterances }: Transcript): Word[] {
  return utterances.flatMap(({ words }) => words)
}
/**
 * The smallest probability whose logarithm is sent. Smaller probabilities are raised to it, because JSON cannot express
 * the logarithm of 0.
 */
const probabilityMin = 1e-6

export function logOf(confidence: number | null): number {
  return Math.log(Math.max(probabilityMin, confidence ?? 1))
}
