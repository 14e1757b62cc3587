// Writes the words of a transcript in OpenAI's formats, with their times or their log probabilities.

import type { Static } from '@sinclair/typebox'
import { withGap } from '../../transcripts/join-texts.ts'
import type { Transcript } from '../../transcripts/transcript.ts'
import type * as shapes from './shapes/replies.ts'

/**
 * Returns the log probability of each word. OpenAI returns one for each token, but a transcript has no tokens. Each
 * returned word includes the space before it, so that the words together are the full text.
 */
export function logprobsOf({
  utterances,
  language,
}: Transcript): NonNullable<Static<typeof shapes.json>['logprobs']> {
  return utterances.flatMap(({ text, words }, index) => {
    const whole = withGap(text, utterances[index - 1]?.text, language)
    let at = 0
    return words.map(({ word, confidence }) => {
      const end = whole.indexOf(word, at) + word.length
      const token = whole.slice(at, end)
      at = end
      return { token, bytes: [...new TextEncoder().encode(token)], logprob: logOf(confidence) }
    })
  })
}

export function wordsOf({ utterances }: Transcript): NonNullable<Static<typeof shapes.verboseJson>['words']> {
  return utterances.flatMap(({ words }) => words.map(({ word, start, end }) => ({ word, start, end })))
}

/**
 * The smallest probability whose logarithm is sent. Smaller probabilities are raised to it, because JSON cannot express
 * the logarithm of 0.
 */
const probabilityMin = 1e-6

export function logOf(confidence: number | null): number {
  return Math.log(Math.max(probabilityMin, confidence ?? 1))
}
