// Merges the transcripts of the channels of one recording. Each channel is one speaker. Overlapping utterances of two
// channels are both kept.

import { joinTexts } from '../transcripts/join-texts.ts'
import type { SpeakerTurn, Transcript, Utterance } from '../transcripts/transcript.ts'

/**
 * Returns one transcript with the utterances of all channels, in order of time. The number of a channel is the number
 * of its speaker. The language is that of the channel with the longest text.
 */
export function mergeChannels(transcripts: readonly [Transcript, ...Transcript[]]): Transcript {
  const main = mainOf(transcripts)
  const heard = transcripts.map(({ utterances }, index) =>
    utterances.map(utterance => spokenBy(`SPEAKER ${index + 1}`, utterance)),
  )
  const utterances = heard.flat().toSorted((one, other) => one.start - other.start)
  return {
    ...main,
    full_transcript: joinTexts(
      utterances.map(({ text }) => text),
      main.language,
    ),
    duration_seconds: Math.max(...transcripts.map(each => each.duration_seconds)),
    speakers: heard.flatMap(([first]) => (first?.speaker ? [first.speaker] : [])),
    utterances,
    warnings: [...new Set(transcripts.flatMap(({ warnings = [] }) => warnings))],
  }
}

/** Returns the transcript with the longest text. */
function mainOf(transcripts: readonly [Transcript, ...Transcript[]]): Transcript {
  return transcripts.reduce((longest, each) =>
    each.full_transcript.length > longest.full_transcript.length ? each : longest,
  )
}

/**
 * The speech of a channel, in seconds, from which its detected language is trusted. With Whisper base, the detected
 * language is wrong for 1 of 12 recordings with less than 3 s of English speech. 5 s has a margin, and was not measured.
 */
const detectableSeconds = 5

/**
 * Finds the channels whose detected language is probably wrong: they have too little speech, and another language than
 * the channel with the longest text. Returns the indices of these channels, and the language of the channel with the
 * longest text. If this channel has too little speech too, returns no indices.
 */
export function wrongLanguages(transcripts: readonly [Transcript, ...Transcript[]]): {
  channels: number[]
  language: string
} {
  const main = mainOf(transcripts)
  const { language } = main
  const isShort = ({ utterances }: Transcript) =>
    utterances.reduce((sum, { start, end }) => sum + end - start, 0) < detectableSeconds
  const channels = transcripts.flatMap((each, index) =>
    each.language !== language && each.utterances.length > 0 && isShort(each) ? [index] : [],
  )
  return { channels: isShort(main) ? [] : channels, language }
}

/** Returns one turn for each utterance of a transcript that `mergeChannels` made. */
export function turnsOfChannels({ utterances }: Transcript): SpeakerTurn[] {
  return utterances.flatMap(({ start, end, speaker }) => (speaker === null ? [] : [{ start, end, speaker }]))
}

function spokenBy(speaker: string, utterance: Utterance): Utterance {
  return { ...utterance, speaker, words: utterance.words.map(word => ({ ...word, speaker })) }
}

/** Returns the highest amplitude of all channels, for each 50 ms of sound. */
export function mergePeaks(channels: readonly Uint8Array[]): Uint8Array {
  const length = Math.max(...channels.map(peaks => peaks.length))
  return Uint8Array.from({ length }, (_, at) => Math.max(...channels.map(peaks => peaks[at] ?? 0)))
}
