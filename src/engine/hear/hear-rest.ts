// Finds the speech whose text is missing, incomplete or improbable, and decodes this speech again.

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
import type { HearOptions } from './speech-model.ts'
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
 * Returns the texts of the windows in `decoded`, after some of the speech is decoded again in new windows. Two kinds of
 * speech are decoded again: speech for which the model returned no text, and the end of a window if the text there is
 * incomplete or has a low probability. A window with the verdict `silence` is not decoded again.
 *
 * The text of a new window is good if it is not empty and passes the checks in guard.ts. A good text is used. If it
 * also leaves out speech, that speech is decoded again in the same way. If the text of a new window is not good, the
 * function keeps the text that this speech had before, if there was one. It then warns that this text is doubtful, or
 * that there is no text, and does not decode the speech of this new window again.
 *
 * Also warns of the text of each window in `decoded` for which every attempt to decode the window failed the checks.
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
    const kept = heard.texts.slice(0, heard.rest?.textsKept)
    const [first, last] = [kept[0], kept.at(-1)]
    if (heard.verdict === 'doubtful' && first && last)
      listener.onWarning('text doubtful', { from: first.from, to: last.to })
    texts.push(...kept)
    open.push(...leftOut(heard))
  }
  decoded.forEach(take)
  while (open.length > 0) {
    const batch = open.splice(0, models.rows)
    for (const [index, heard] of (await hearAgain(models, batch, options)).entries()) {
      if (heard.verdict === 'good' && heard.texts.length > 0) take(heard)
      else {
        const { otherwise } = batch[index]!
        texts.push(...otherwise)
        listener.onWarning(otherwise.length > 0 ? 'text doubtful' : 'speech without text', heard.window)
      }
    }
  }
  return texts
}

/**
 * Returns the windows that must be decoded again: one window for each part of `window` that has speech but no text. If
 * the verdict is `silence`, there are none. If `rest` is not null, the text at the end of `window` is incomplete or
 * improbable. The last returned window is then `rest.window`, which covers this end.
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
