// Converts windows (at most 30 s of sound each) to words with a Whisper model. Encodes one or two windows at a time,
// and decodes all of them together in one batch.

import { seconds } from '../audio.ts'
import type { Row } from './decode-rows.ts'
import type { Features } from './features.ts'
import { type Hypothesis, upTo } from './hypothesis.ts'
import type { JointDecoding } from './joint-decoding.ts'
import type { EncodedWindow, Encoder, EncoderInput } from './network.ts'
import { type PlacedText, placeInRecording } from './place.ts'
import { promptOf } from './prompt.ts'
import { recognise } from './recognise.ts'
import type { Recording } from './recording.ts'
import { type Rest, restAfter } from './rest.ts'
import type { Listener } from './speech-model.ts'
import type { VoiceReading } from './voice-network.ts'
import type { Whisper } from './whisper.ts'
import { framesOf, sampleOf, soundOf, type Window } from './windows.ts'

/** An open Whisper model. `features` computes the spectrograms that the model reads. */
export type WhisperModels = {
  whisper: Whisper
  features: Features
  /** The maximum number of windows of one recording in a batch. */
  rows: number
  joint: JointDecoding
}

type EncodeOptions<Result> = {
  recording: Recording
  onShare: (share: number) => Promise<void>
  onVoiceReading?: Listener['onVoiceReading']
  use: (encoded: readonly EncodedWindow[]) => Promise<Result>
}

/** Encodes the windows, and passes the encoded windows to `use`. Frees the encoded windows after the end of `use`. */
export async function withEncoded<Result>(
  { whisper, features }: Pick<WhisperModels, 'whisper' | 'features'>,
  windows: readonly Window[],
  { recording, onShare, onVoiceReading, use }: EncodeOptions<Result>,
): Promise<Result> {
  const encoded: EncodedWindow[] = []
  try {
    const together = whisper.encoder.encodeTwo ? 2 : 1
    while (encoded.length < windows.length) {
      const next = windows.slice(encoded.length, encoded.length + together).map(window => ({
        picture: features.logMel(soundOf(window, recording)),
        soundFrames: framesOf(window),
        onVoiceReading: onVoiceReading && ((reading: VoiceReading) => onVoiceReading(window, reading)),
      }))
      encoded.push(...encodeTogether(whisper.encoder, next))
      await onShare(encoded.length / windows.length)
    }
    return await use(encoded)
  } finally {
    for (const window of encoded) window.close()
  }
}

function encodeTogether(encoder: Encoder, windows: readonly EncoderInput[]): EncodedWindow[] {
  const [one, other] = windows
  if (encoder.encodeTwo && one && other) return encoder.encodeTwo(one, other)
  return windows.map(window => encoder.encode(window))
}

export type DecodedWindow = {
  window: Window
  verdict: Hypothesis['verdict']
  texts: PlacedText[]
  /**
   * The end of the window, if this end must be decoded again. Otherwise null. The first `rest.textsKept` entries of
   * `texts` stay in the result. The later entries are used only if the second decoding gives no good text.
   */
  rest: Rest | null
}

export type DecodeOptions = {
  language: string
  context: readonly number[]
  translate: boolean
  onShare: (share: number) => Promise<void>
}

/**
 * Decodes the windows in `extended`. They are the same windows as in `windows`, but each short window has more speech
 * at its end, because the model makes fewer errors if more speech follows. The words of this added speech are left out
 * of the result. `encoded` is the output of the encoder for `extended`.
 */
export async function decodeWindows(
  { whisper, joint }: WhisperModels,
  windows: readonly Window[],
  extended: readonly Window[],
  encoded: readonly EncodedWindow[],
  { language, context, translate, onShare }: DecodeOptions,
): Promise<DecodedWindow[]> {
  const { decoder, attendingDecoder } = whisper
  const rows = extended.map((heard, index) => rowOf(heard, windows[index]))
  const hypotheses = await recognise(encoded, rows, {
    whisper,
    joint,
    decoder: attendingDecoder ?? decoder,
    prompt: promptOf(whisper, context, { language, translate }),
    promptAgain: promptOf(whisper, [], { language, translate }),
    timestamps: true,
    // The attention of a translation does not follow the order of the speech, and cannot give word times. Word times of
    // a translation are estimated from the lengths of the words.
    attention: attendingDecoder !== null && !translate,
    onShare,
  })
  return windows.map((window, row) => {
    const hypothesis = hypotheses[row]!
    const heard = extended[row]!
    const place = (part: Hypothesis) =>
      placeInRecording(whisper, heard, part, translate ? 'en' : language).filter(
        ({ from, to }) => (from + to) / 2 <= window.to,
      )
    const { unfinished } = hypothesis
    const texts = place(hypothesis)
    const rest =
      unfinished &&
      restAfter(window, hypothesis.attention.length > 0 ? texts : [], {
        textsKept: place(upTo(hypothesis, unfinished)).length,
        sample: sampleOf(heard, unfinished.frame),
      })
    return { window, verdict: hypothesis.verdict, texts, rest }
  })
}

/**
 * Returns the lengths that the decoding of a window needs. `window` is the window whose text is needed. `heard` is the
 * window that the model decodes. It is `window`, or `window` with more speech at its end, because the model makes more
 * errors in short windows.
 * - `frames` is the length of `heard`.
 * - `speechSeconds` is the length of the speech in `heard`. The check of the text needs it, because a window with much
 *   speech must have text.
 * - `neededFrames` is the length of `window`, given only if speech was added. Decoding ends at this length.
 */
function rowOf(heard: Window, window: Window = heard): Row {
  const row = {
    frames: framesOf(heard),
    speechSeconds: seconds(heard.speech.reduce((sum, { from, to }) => sum + to - from, 0)),
  }
  return heard.samples > window.samples ? { ...row, neededFrames: framesOf(window) } : row
}
