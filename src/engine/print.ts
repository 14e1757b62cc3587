// Makes the voice print of one person from a media file. The engine process that makes voice prints loads only the
// voice models.

import { JobFailure } from '../errors.ts'
import { decode } from '../media/decode.ts'
import { cutSection, sampleRate } from './audio.ts'
import { runtimeLibrary } from './onnx/library.ts'
import { openRuntime } from './onnx/runtime.ts'
import type { PrintOrder, Report } from './protocol.ts'
import { Diarization } from './who/diarize.ts'
import { printSamplesMin, printsOf } from './who/prints.ts'
import { longestSpans, type SoundSpan, spansOf, totalOf } from './who/sound-spans.ts'
import type { Turn } from './who/turn.ts'
import { openVoices, type Voices } from './who/voices.ts'

/**
 * The section of the media file in which the main speaker is searched for. Used only if the caller does not know the
 * spans in which the person speaks.
 */
const searched = { fromMs: 0, toMs: 10 * 60_000 }
/**
 * The maximum speech of all other speakers, as a share of the main speaker's speech. Above this share, the file is
 * refused. Below this share, other speakers count as errors of the diarization.
 */
const otherShareMax = 0.1
const secondsMin = printSamplesMin / sampleRate

export async function makePrint(order: PrintOrder): Promise<Report> {
  try {
    const voices = openVoices(openRuntime(runtimeLibrary(), 1), order.voices)
    const open = () => decode(order.path, { ...order, signal: new AbortController().signal })
    const spans = longestSpans(
      order.speech ? spansOf(order.speech) : await findOnlySpeaker(voices, cutSection(open(), searched)),
    )
    const [print] = await printsOf(voices.embedder, open(), [spans])
    if (!print) throw unusable(`A voice needs ${secondsMin} seconds of speech without long pauses.`)
    return {
      kind: 'printed',
      print: { print: [...print], model: voices.name, seconds: totalOf(spans) / sampleRate },
    }
  } catch (error) {
    if (!(error instanceof JobFailure)) throw error
    return { kind: 'notPrinted', code: error.code, message: error.message }
  }
}

/** Returns the error for a media file from which no voice print can be made. */
function unusable(message: string): JobFailure {
  return new JobFailure('INVALID_MEDIA_FORMAT', message)
}

async function findOnlySpeaker(voices: Voices, sound: AsyncIterable<Float32Array>): Promise<SoundSpan[]> {
  const diarization = new Diarization(voices)
  for await (const part of sound) diarization.add(part)
  return turnsOfMain(diarization.finish(null).exclusive)
}

/** Returns the turns of the main speaker. Throws an error if other speakers talk more than `otherShareMax` allows. */
export function turnsOfMain(turns: readonly Turn[]): Turn[] {
  const spoken = [...Map.groupBy(turns, ({ speaker }) => speaker).values()].toSorted(
    (one, other) => totalOf(other) - totalOf(one),
  )
  const [main = [], ...others] = spoken
  if (totalOf(others.flat()) > otherShareMax * totalOf(main))
    throw unusable(
      'The file has more than one speaker: transcribe it with diarize, and enrol a speaker of that transcription.',
    )
  return main
}
