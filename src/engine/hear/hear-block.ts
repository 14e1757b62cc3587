// Recognises the speech in a block of windows. A window has at most 30 s of sound, and all windows of a block are
// decoded together in one batch. Speech whose text is missing, incomplete or improbable is decoded again in separate
// windows.

import { sampleRate } from '../audio.ts'
import { decodeWindows, type WhisperModels, withEncoded } from './decode-windows.ts'
import { hearRest } from './hear-rest.ts'
import { detectJointly } from './language.ts'
import type { EncodedWindow } from './network.ts'
import type { Heard, HearOptions, Listener } from './speech-model.ts'
import type { Window } from './windows.ts'

type BlockOptions = HearOptions & {
  /** The tokens of the caller's vocabulary and prompt (see `contextTokens`). */
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
    onVoiceReading: listener.onVoiceReading,
    use: async encoded => {
      const { whisper, joint } = models
      const odds = (voters: readonly EncodedWindow[]) => joint.detect(whisper, voters)
      const language = asked ?? (await detectJointly(whisper, encoded, windows, odds))
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
  // While speech is decoded again, the reports only show that the job is still active. So each report gives the same
  // position: the middle of the block. The job reached this position when all windows of the block were encoded.
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
  collectAfter(windows)
  return { language, texts: texts.toSorted((one, other) => one.from - other.from) }
}

/**
 * The length of sound, in samples, between two runs of the garbage collector. A run needs 20 ms of CPU time, which is
 * much for a short recording.
 */
const collectEvery = 120 * sampleRate
let uncollected = 0

/**
 * Runs the garbage collector after every `collectEvery` samples of sound. A block allocates tens of megabytes in native
 * buffers, whose size the collector does not count. Without these calls, the collector would run too seldom.
 */
function collectAfter(windows: readonly Window[]): void {
  uncollected += windows.reduce((sum, { samples }) => sum + samples, 0)
  if (uncollected < collectEvery) return
  uncollected = 0
  Bun.gc(true)
}

/**
 * Returns a function that reports progress to the listener. The argument of this function is the finished share of the
 * block (0 to 1). The listener gets the matching position in the recording, in samples.
 */
function progressWithin(windows: readonly Window[], listener: Listener): (share: number) => Promise<void> {
  const from = windows[0]?.from ?? 0
  const to = windows.at(-1)?.to ?? from
  return share => listener.onSamples(Math.round(from + share * (to - from)))
}
