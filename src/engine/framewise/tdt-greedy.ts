// Greedy decoding of a TDT model (token-and-duration transducer). The decoder reads a frame and predicts a token and a
// duration: the number of frames to the next frame that the decoder reads. The durations differ between windows, so
// each window has its own current frame.

import { bestOf, type Permitted, probabilityOf } from './scores.ts'
import type { State, TdtDecoder } from './tdt-decoder.ts'
import type { EncodedFrames } from './tdt-encoder.ts'
import { isControl, type Tokens } from './tokens.ts'
import type { TimedToken } from './words.ts'

/** The length of a TDT frame (80 ms), in Whisper's frames of 20 ms. */
const frameLength = 4

export type TdtOptions = {
  tokens: Tokens
  permitted: Permitted
  blank: number
  /** The maximum number of tokens that the decoder may return for one frame. */
  perFrame: number
}

type Row = {
  frames: EncodedFrames
  at: number
  emitted: number
  token: number
  state: State
  decoded: TimedToken[]
}

/**
 * Decodes several windows. A token lasts for its predicted duration, and at least for one frame, but not beyond the end
 * of the window. After a blank token, the decoder keeps its earlier state for this window.
 */
export function decodeTdt(
  decoder: TdtDecoder,
  encoded: readonly EncodedFrames[],
  { tokens, permitted, blank, perFrame }: TdtOptions,
): TimedToken[][] {
  const all = encoded.map(
    (frames): Row => ({
      frames,
      at: 0,
      emitted: 0,
      token: blank,
      state: decoder.emptyState(),
      decoded: [],
    }),
  )
  const isOpen = ({ at, frames }: Row) => at < frames.count
  for (let open = all.filter(isOpen); open.length > 0; open = open.filter(isOpen)) {
    const predictions = decoder.step(
      open.map(({ frames, at, token, state }) => ({ frame: frameOf(frames, at), token, state })),
    )
    for (const [index, row] of open.entries()) {
      const prediction = predictions[index]
      if (!prediction) throw new RangeError('the decoder returned too few rows')
      const { scores, state } = prediction
      const number = bestOf(scores, 0, tokens.length, permitted)
      const duration = durationIn(scores, tokens.length)
      if (number !== blank) {
        row.state = state
        row.token = number
        row.emitted++
        addToken(row, tokens[number] ?? '', {
          duration,
          probability: probabilityOf(scores, 0, tokens.length, number),
        })
      }
      // With the duration 0, the decoder reads the same frame again. After a blank token, or after `perFrame` tokens
      // for one frame, it reads the next frame instead, so that it always advances.
      const isStuck = number === blank || row.emitted >= perFrame
      if (duration === 0 && !isStuck) continue
      row.at += duration > 0 ? duration : 1
      row.emitted = 0
    }
  }
  return all.map(({ decoded }) => decoded)
}

function frameOf({ values, width }: EncodedFrames, at: number): Float32Array {
  return values.subarray(at * width, (at + 1) * width)
}

/**
 * Returns the most probable duration. A TDT model predicts a duration together with each token: the number of frames to
 * the frame that the decoder reads next. Returns 0 for a model that predicts no durations.
 */
function durationIn(scores: Float32Array, tokens: number): number {
  return Math.max(0, bestOf(scores, tokens, scores.length - tokens, null))
}

function addToken(
  { decoded, at, frames }: Row,
  text: string,
  { duration, probability }: { duration: number; probability: number },
): void {
  if (isControl(text)) return
  const end = Math.min(at + Math.max(1, duration), frames.count)
  decoded.push({ text, from: at * frameLength, to: end * frameLength, probability })
}
