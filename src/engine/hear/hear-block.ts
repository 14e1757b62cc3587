// A block of windows to text at its place in the recording. Windows are encoded one by one and decoded together.
// Speech that got no text is decoded again, in windows of its own.

import { spokenAs } from '../../languages.ts'
import { samplesPerFrame, seconds, windowFrames } from '../audio.ts'
import { detect } from './language.ts'
import { missedSpeech } from './missed.ts'
import { type PlacedText, placeInRecording } from './place.ts'
import { type Hypothesis, type Row, recognise } from './recognise.ts'
import type { SpeechModels } from './speech-models.ts'
import type { Facts } from './whisper.ts'
import { type Recording, soundOf, type Window } from './windows.ts'

export type Listener = {
  /** Samples of sound that are done. */
  onSamples(done: number): Promise<void>
  /** The event is a phrase such as `window doubtful`. */
  onWarning(event: string, fields: Record<string, string | number>): void
}

export type HearOptions = {
  recording: Recording
  /** Detected in this block when null. */
  language: string | null
  /** Whether the text is needed word by word. */
  align: boolean
  listener: Listener
}

export async function hearBlock(
  models: SpeechModels,
  windows: readonly Window[],
  { recording, language: asked, align, listener }: HearOptions,
): Promise<{ language: string; texts: PlacedText[] }> {
  const report = progressWithin(windows, listener)
  const states = await encodeWindows(models, windows, recording, share => report(share / 2))
  const language = asked ?? detect(models, states, windows)
  const decoded = await decodeWindows(models, windows, states, {
    language,
    align,
    onShare: share => report((1 + share) / 2),
  })
  const missed = decoded.flatMap(({ window, verdict, texts }) =>
    verdict === 'silence' ? [] : missedSpeech(window, texts),
  )
  // Hearing missed speech has no share of the progress.
  const onShare = () => report(0.5)
  const again = await hearMissed(models, missed, { recording, listener, language, align, onShare })
  // The sound, pictures and attention of a block are tens of megabytes that the garbage collector does not count.
  Bun.gc(true)
  for (const { window, verdict } of decoded) {
    if (verdict === 'doubtful')
      listener.onWarning('window doubtful', { second: Math.round(seconds(window.from)) })
  }
  const texts = [...decoded, ...again].flatMap(({ texts }) => texts)
  return { language, texts: texts.toSorted((one, other) => one.from - other.from) }
}

/** Reports a share of the work on a block as a sample of the recording. */
function progressWithin(windows: readonly Window[], listener: Listener): (share: number) => Promise<void> {
  const from = windows[0]?.from ?? 0
  const to = windows.at(-1)?.to ?? from
  return share => listener.onSamples(Math.round(from + share * (to - from)))
}

async function encodeWindows(
  { encoder, features }: SpeechModels,
  windows: readonly Window[],
  recording: Recording,
  onShare: (share: number) => Promise<void>,
): Promise<Float32Array> {
  const states = new Float32Array(windows.length * encoder.rowSize)
  for (const [row, window] of windows.entries()) {
    encoder.encode(features.logMel(soundOf(window, recording)), states, row)
    await onShare((row + 1) / windows.length)
  }
  return states
}

type DecodedWindow = { window: Window; verdict: Hypothesis['verdict']; texts: PlacedText[] }

type DecodeOptions = { language: string; align: boolean; onShare: (share: number) => Promise<void> }

async function decodeWindows(
  { whisper, decoder, attendingDecoder }: SpeechModels,
  windows: readonly Window[],
  states: Float32Array,
  { language, align, onShare }: DecodeOptions,
): Promise<DecodedWindow[]> {
  const attention = align && whisper.facts.alignmentHeads !== null
  const hypotheses = await recognise(states, windows.map(rowOf), {
    whisper,
    decoder: attention ? attendingDecoder : decoder,
    prompt: promptFor(whisper.facts, language),
    timestamps: true,
    attention,
    random: seededRandom(),
    onShare,
  })
  return windows.map((window, row) => {
    const hypothesis = hypotheses[row]!
    const texts = placeInRecording(whisper, window, hypothesis, language, align)
    return { window, verdict: hypothesis.verdict, texts }
  })
}

function rowOf({ samples, speech }: Window): Row {
  return {
    frames: Math.min(windowFrames, Math.ceil(samples / samplesPerFrame)),
    speechSeconds: seconds(speech.reduce((sum, { from, to }) => sum + to - from, 0)),
  }
}

/**
 * The prompt without the text of the window before: windows that depend on each other cannot be decoded together, and a
 * wrong one misleads the next. Ten minutes of the pocket model had 5.9 % of words wrong without that text, and 13.8 %
 * with it.
 */
function promptFor({ start, transcribe, languages }: Facts, language: string): number[] {
  const known = languages.get(spokenAs(language, new Set(languages.keys())) ?? '')
  return known === undefined || transcribe === null ? [start] : [start, known, transcribe]
}

/** A generator with a fixed seed: the same file has the same words in every run. */
function seededRandom(): () => number {
  let state = 1
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Decodes missed speech in windows of its own. Speech that still has no reliable text is logged. */
async function hearMissed(
  models: SpeechModels,
  missed: readonly Window[],
  { recording, listener, ...options }: DecodeOptions & Pick<HearOptions, 'recording' | 'listener'>,
): Promise<DecodedWindow[]> {
  const found: DecodedWindow[] = []
  for (let at = 0; at < missed.length; at += models.rows) {
    const windows = missed.slice(at, at + models.rows)
    const states = await encodeWindows(models, windows, recording, options.onShare)
    for (const decoded of await decodeWindows(models, windows, states, options)) {
      if (decoded.verdict === 'good' && decoded.texts.length > 0) found.push(decoded)
      else warnWithoutText(decoded.window, listener)
    }
  }
  return found
}

function warnWithoutText({ from, to }: Window, listener: Listener): void {
  listener.onWarning('speech without text', {
    from_second: Math.round(seconds(from)),
    to_second: Math.round(seconds(to)),
  })
}
