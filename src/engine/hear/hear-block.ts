// Recognises a block of windows. Windows are encoded one by one and decoded together. Speech without text is decoded
// again in windows of its own.

import { samplesPerFrame, seconds, windowFrames } from '../audio.ts'
import { detect } from './language.ts'
import { missedSpeech, restOf } from './missed.ts'
import type { EncodedWindow } from './network.ts'
import { type PlacedText, placeInRecording } from './place.ts'
import { promptOf } from './prompt.ts'
import { type Hypothesis, type Row, recognise, upTo } from './recognise.ts'
import type { SpeechModels } from './speech-models.ts'
import { type Recording, soundOf, type Window, windowUntil } from './windows.ts'

export type Listener = {
  /** Called with the number of samples that are done. */
  onSamples(done: number): Promise<void>
  /** The event is a phrase such as `window doubtful`. */
  onWarning(event: string, fields: Record<string, string | number>): void
}

export type HearOptions = {
  recording: Recording
  /** If null, the language is detected in this block. */
  language: string | null
  /** The tokens of the caller's context. */
  context: readonly number[]
  listener: Listener
}

export async function hearBlock(
  models: SpeechModels,
  windows: readonly Window[],
  { recording, language: asked, context, listener }: HearOptions,
): Promise<{ language: string; texts: PlacedText[] }> {
  const report = progressWithin(windows, listener)
  const { language, decoded } = await withEncoded(models, windows, {
    recording,
    onShare: share => report(share / 2),
    use: async encoded => {
      const language = asked ?? detect(models.whisper, encoded, windows)
      const onShare = (share: number) => report((1 + share) / 2)
      return {
        language,
        decoded: await decodeWindows(models, windows, encoded, { language, context, onShare }),
      }
    },
  })
  // Further passes do not advance the progress.
  const onShare = () => report(0.5)
  const texts = await hearRest(models, decoded, { recording, listener, language, context, onShare })
  // A block allocates tens of megabytes of sound, spectrograms and attention, which do not trigger the garbage
  // collector.
  Bun.gc(true)
  return { language, texts: texts.toSorted((one, other) => one.from - other.from) }
}

/** Converts a share of the work on a block to a sample of the recording, and reports it. */
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

/** Encodes the windows, and closes them after their use. */
async function withEncoded<Result>(
  { whisper, features }: SpeechModels,
  windows: readonly Window[],
  { recording, onShare, use }: EncodeOptions<Result>,
): Promise<Result> {
  const encoded: EncodedWindow[] = []
  try {
    for (const window of windows) {
      encoded.push(whisper.encoder.encode(features.logMel(soundOf(window, recording))))
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
  /** The speech to decode again. The first `textsKept` texts are kept whatever the result is. */
  rest: { window: Window; textsKept: number } | null
}

type DecodeOptions = {
  language: string
  context: readonly number[]
  onShare: (share: number) => Promise<void>
}

async function decodeWindows(
  { whisper }: SpeechModels,
  windows: readonly Window[],
  encoded: readonly EncodedWindow[],
  { language, context, onShare }: DecodeOptions,
): Promise<DecodedWindow[]> {
  const { decoder, attendingDecoder } = whisper
  const hypotheses = await recognise(encoded, windows.map(rowOf), {
    whisper,
    decoder: attendingDecoder ?? decoder,
    prompt: promptOf(whisper, context, language),
    promptAgain: promptOf(whisper, [], language),
    timestamps: true,
    attention: attendingDecoder !== null,
    random: seededRandom(),
    onShare,
  })
  return windows.map((window, row) => {
    const hypothesis = hypotheses[row]!
    const place = (part: Hypothesis) => placeInRecording(whisper, window, part, language)
    const rest = hypothesis.unfinished && restOf(window, hypothesis.unfinished.frame)
    const textsKept = place(upTo(hypothesis, hypothesis.unfinished)).length
    const texts = place(hypothesis)
    return { window, verdict: hypothesis.verdict, texts, rest: rest && { window: rest, textsKept } }
  })
}

function rowOf({ samples, speech }: Window): Row {
  return {
    frames: Math.min(windowFrames, Math.ceil(samples / samplesPerFrame)),
    speechSeconds: seconds(speech.reduce((sum, { from, to }) => sum + to - from, 0)),
  }
}

/** A random generator with a fixed seed, so that each run on the same file has the same result. */
function seededRandom(): () => number {
  let state = 1
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

type AgainOptions = DecodeOptions & Pick<HearOptions, 'recording' | 'listener'>

/** Speech to decode again, and the text that is used if the second pass has none. */
type Again = { window: Window; otherwise: PlacedText[] }

/**
 * Returns the texts of the decoded windows and of the speech that they left out. That speech is decoded in windows of
 * its own, repeatedly. Speech without reliable text at the end causes a warning.
 */
async function hearRest(
  models: SpeechModels,
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

/** Returns the speech of a decoded window that its text does not cover. */
function leftOut({ window, verdict, texts, rest }: DecodedWindow): Again[] {
  if (verdict === 'silence') return []
  if (rest === null) return missedSpeech(window, texts).map(window => ({ window, otherwise: [] }))
  const before = windowUntil(window, rest.window.from)
  return [
    ...missedSpeech(before, texts.slice(0, rest.textsKept)).map(window => ({ window, otherwise: [] })),
    { window: rest.window, otherwise: texts.slice(rest.textsKept) },
  ]
}

async function hearAgain(
  models: SpeechModels,
  batch: readonly Again[],
  options: AgainOptions,
): Promise<DecodedWindow[]> {
  const windows = batch.map(({ window }) => window)
  const { recording, onShare } = options
  const use = (encoded: readonly EncodedWindow[]) => decodeWindows(models, windows, encoded, options)
  return withEncoded(models, windows, { recording, onShare, use })
}

function warnWithoutText({ from, to }: Window, listener: Listener): void {
  listener.onWarning('speech without text', {
    from_second: Math.round(seconds(from)),
    to_second: Math.round(seconds(to)),
  })
}
