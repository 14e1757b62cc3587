// Finds the speech for which the model returned no text, and decodes this speech again.

import { seconds } from '../audio.ts'
import {
  type DecodedWindow,
  type DecodeOptions,
  decodeWindows,
  type WhisperModels,
  withEncoded,
} from './decode-windows.ts'
import { missedSpeech } from './missed.ts'
import type { EncodedWindow } from './network.ts'
import type { PlacedText } from './place.ts'
import type { HearOptions, Listener } from './speech-model.ts'
import type { SpeechSpan } from './speech-spans.ts'
import { type Window, windowUntil, withSpeechAfter } from './windows.ts'

type AgainOptions = DecodeOptions &
  Pick<HearOptions, 'recording' | 'listener'> & {
    /** The speech spans of all windows of the block. A block is the group of windows that are decoded together. */
    speech: readonly SpeechSpan[]
  }

/** A window that is decoded again. If this second decoding returns no good text, the texts in `otherwise` are used. */
type Again = { window: Window; otherwise: PlacedText[] }

/**
 * Decodes two kinds of speech again, in new windows: speech for which the model returned no text, and the end of a
 * window if the text there is incomplete or improbable. If a new window gets a good text, the same is done with the
 * speech that this text leaves out. If it gets no good text, a warning is reported, and its speech is not decoded
 * again. Returns the texts of all windows. Also warns about each window of `decoded` with a doubtful text.
 */
export async function hearRest(
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

/**
 * Returns the windows that must be decoded again: one window for each part of `window` that has speech but no text. If
 * `rest` is not null, the text at the end of `window` is incomplete or improbable. The last returned window is then
 * `rest.window`, which covers this end.
 */
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
 * Encodes and decodes windows again. Each window is extended by the speech after it, because the model makes more
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
