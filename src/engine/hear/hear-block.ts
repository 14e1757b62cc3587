// Recognises the speech in a block of windows. The windows are encoded one by one, and decoded together in one batch.
// If the model returned no text for some of the speech, this speech is decoded again in separate windows.

import { seconds } from '../audio.ts'
import type { Features } from './features.ts'
import { detect } from './language.ts'
import { missedSpeech, restOf } from './missed.ts'
import type { EncodedWindow } from './network.ts'
import { type PlacedText, placeInRecording } from './place.ts'
import { promptOf } from './prompt.ts'
import { type Hypothesis, type Row, recognise, upTo } from './recognise.ts'
import type { Heard, HearOptions, Listener } from './speech-model.ts'
import type { SpeechSpan } from './speech-spans.ts'
import type { Whisper } from './whisper.ts'
import {
  framesOf,
  type Recording,
  sampleOf,
  soundOf,
  type Window,
  windowUntil,
  withSpeechAfter,
} from './windows.ts'

/** An open Whisper model, and `features`, which computes the spectrograms that the model reads. */
export type WhisperModels = {
  whisper: Whisper
  features: Features
  /** The maximum number of windows that are decoded together in one batch. */
  rows: number
}

type BlockOptions = HearOptions & {
  /** The tokens of the text that the caller supplied as context. */
  context: readonly number[]
}

export async function hearBlock(
  models: WhisperModels,
  windows: readonly Window[],
  { recording, language: asked, context, translate, listener }: BlockOptions,
): Promise<Heard> {
  const report = progressWithin(windows, listener)
  const { language, decoded } = await withEncoded(models, windows, {
    recording,
    onShare: share => report(share / 2),
    use: async encoded => {
      const language = asked ?? detect(models.whisper, encoded, windows)
      const onShare = (share: number) => report((1 + share) / 2)
      return {
        language,
        decoded: await decodeWindows(models, windows, windows, encoded, {
          language,
          context,
          translate,
          onShare,
        }),
      }
    },
  })
  // While speech is decoded again, the reported progress is always the middle of the block. The progress of the job
  // does not change, but each report shows that the job is still active.
  const onShare = () => report(0.5)
  const texts = await hearRest(models, decoded, {
    speech: windows.flatMap(({ speech }) => speech),
    recording,
    listener,
    language,
    context,
    translate,
    onShare,
  })
  // Runs the garbage collector. A block allocates tens of megabytes of sound, spectrograms and attention in native
  // buffers. The garbage collector does not start often enough by itself, because it does not count the size of native
  // buffers.
  Bun.gc(true)
  return { language, texts: texts.toSorted((one, other) => one.from - other.from) }
}

/**
 * Returns a function that reports the progress of a block. The function converts a share of the work on the block (0 to
 * 1) to a sample of the recording, and reports this sample to the listener.
 */
function progressWithin(windows: readonly Window[], listener: Listener): (share: number) => Promise<void> {
  const from = windows[0]?.from ?? 0
  const to = windows.at(-1)?.to ?? from
  return share => listener.onSamples(Math.round(from + share * (to - from)))
}

type EncodeOptions<Result> = {
  recording: Recording
  onShare: (share: number) => Promise<void>
  use: (encoded: readonly EncodedWindow[]) => Promise<Result>
}

/** Encodes the windows, and passes the encoded windows to `use`. Frees the encoded windows when `use` has ended. */
async function withEncoded<Result>(
  { whisper, features }: WhisperModels,
  windows: readonly Window[],
  { recording, onShare, use }: EncodeOptions<Result>,
): Promise<Result> {
  const encoded: EncodedWindow[] = []
  try {
    for (const window of windows) {
      encoded.push(whisper.encoder.encode(features.logMel(soundOf(window, recording)), framesOf(window)))
      await onShare(encoded.length / windows.length)
    }
    return await use(encoded)
  } finally {
    for (const window of encoded) window.close()
  }
}

type DecodedWindow = {
  window: Window
  verdict: Hypothesis['verdict']
  texts: PlacedText[]
  /**
   * A window over the speech that must be decoded again. The first `textsKept` elements of `texts` stay in the result.
   * The other elements of `texts` are used only if the second decoding returns no good text. Null if no speech must be
   * decoded again.
   */
  rest: { window: Window; textsKept: number } | null
}

type DecodeOptions = {
  language: string
  context: readonly number[]
  translate: boolean
  onShare: (share: number) => Promise<void>
}

/**
 * Decodes windows. `extended` has the same windows as `windows`, but a window of `extended` may have more speech at its
 * end. `encoded` is the output of the encoder for `extended`. Words in the added speech are removed from the result.
 */
async function decodeWindows(
  { whisper }: WhisperModels,
  windows: readonly Window[],
  extended: readonly Window[],
  encoded: readonly EncodedWindow[],
  { language, context, translate, onShare }: DecodeOptions,
): Promise<DecodedWindow[]> {
  const { decoder, attendingDecoder } = whisper
  const hypotheses = await recognise(encoded, extended.map(rowOf), {
    whisper,
    decoder: attendingDecoder ?? decoder,
    prompt: promptOf(whisper, context, { language, translate }),
    promptAgain: promptOf(whisper, [], { language, translate }),
    timestamps: true,
    // The attention of a translation does not follow the order of the speech, so the attention cannot give word times.
    // The word times of a translation are estimated from the lengths of the words.
    attention: attendingDecoder !== null && !translate,
    random: seededRandom(),
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
    const rest = unfinished && restOf(window, sampleOf(heard, unfinished.frame))
    const textsKept = place(upTo(hypothesis, unfinished)).length
    const texts = place(hypothesis)
    return { window, verdict: hypothesis.verdict, texts, rest: rest && { window: rest, textsKept } }
  })
}

function rowOf(window: Window): Row {
  const { speech } = window
  return {
    frames: framesOf(window),
    speechSeconds: seconds(speech.reduce((sum, { from, to }) => sum + to - from, 0)),
  }
}

/** Returns a random number generator with a fixed seed, so that the same recording always has the same result. */
function seededRandom(): () => number {
  let state = 1
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

type AgainOptions = DecodeOptions &
  Pick<HearOptions, 'recording' | 'listener'> & {
    /** The speech spans of all windows of the block. */
    speech: readonly SpeechSpan[]
  }

/** A window that is decoded again. If this second decoding returns no good text, the texts in `otherwise` are used. */
type Again = { window: Window; otherwise: PlacedText[] }

/**
 * Decodes the speech for which the model returned no text, in separate windows. Repeats this while such speech remains.
 * Returns the texts of the first decoding and of all further ones. Warns about each window whose text is doubtful or
 * missing.
 */
async function hearRest(
  models: WhisperModels,
  decoded: readonly DecodedWindow[],
  options: AgainOptions,
): Promise<PlacedText[]> {
  const { listener } = options
  const texts: PlacedText[] = []
  const open: Again[] = []
  const take = (heard: DecodedWindow) => {
    if (heard.verdict === 'doubtful')
      listener.onWarning('window doubtful', { second: Math.round(seconds(heard.window.from)) })
    texts.push(...(heard.rest ? heard.texts.slice(0, heard.rest.textsKept) : heard.texts))
    open.push(...leftOut(heard))
  }
  decoded.forEach(take)
  while (open.length > 0) {
    const batch = open.splice(0, models.rows)
    for (const [index, heard] of (await hearAgain(models, batch, options)).entries()) {
      if (heard.verdict === 'good' && heard.texts.length > 0) take(heard)
      else {
        texts.push(...batch[index]!.otherwise)
        warnWithoutText(heard.window, listener)
      }
    }
  }
  return texts
}

/** Returns windows over the speech of a decoded window for which the model returned no text. */
function leftOut({ window, verdict, texts, rest }: DecodedWindow): Again[] {
  if (verdict === 'silence') return []
  if (rest === null) return missedSpeech(window, texts).map(window => ({ window, otherwise: [] }))
  const before = windowUntil(window, rest.window.from)
  return [
    ...missedSpeech(before, texts.slice(0, rest.textsKept)).map(window => ({ window, otherwise: [] })),
    { window: rest.window, otherwise: texts.slice(rest.textsKept) },
  ]
}

/**
 * Encodes and decodes windows again. Each window is extended by speech that follows it, because the model makes more
 * errors in short windows.
 */
async function hearAgain(
  models: WhisperModels,
  batch: readonly Again[],
  options: AgainOptions,
): Promise<DecodedWindow[]> {
  const windows = batch.map(({ window }) => window)
  const { recording, onShare, speech } = options
  const extended = windows.map(window => withSpeechAfter(window, speech))
  const use = (encoded: readonly EncodedWindow[]) =>
    decodeWindows(models, windows, extended, encoded, options)
  return withEncoded(models, extended, { recording, onShare, use })
}

function warnWithoutText({ from, to }: Window, listener: Listener): void {
  listener.onWarning('speech without text', {
    from_second: Math.round(seconds(from)),
    to_second: Math.round(seconds(to)),
  })
}
