// Decodes speech again if its text is missing, incomplete or improbable.

import { rowsWith } from './batch-rows.ts'
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
    /** The speech spans of all windows that are decoded together. */
    speech: readonly SpeechSpan[]
  }

/** A window that is decoded again. The texts in `otherwise` are used if the second decoding gives no good text. */
type Again = { window: Window; otherwise: PlacedText[] }

/**
 * Returns the texts of the windows in `decoded`. First, two kinds of speech are decoded again in new windows: speech
 * without text, and the end of a window with incomplete or improbable text. Speech that the new text leaves out is
 * decoded again too.
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
    const batch = open.splice(0, rowsWith(models.rows, options.context))
    for (const [index, heard] of (await hearAgain(models, batch, options)).entries()) {
      // An empty new text, or one that fails the checks, does not replace the earlier text of the same speech.
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
 * Returns the parts of `window` that must be decoded again, each as a window. Returns no windows if the checks of the
 * text found that `window` is silent (the verdict `silence`). Otherwise returns:
 * - the parts that have enough speech, but no text;
 * - the end of `window` (`rest.window`), if the text there is incomplete, or if the model gave it a low probability. If
 *   the end need not be decoded again, `rest` is null.
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
 * Encodes and decodes windows again, each with the speech after it, because the model makes more errors in short
 * windows.
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
