// Transcribes sound block by block, so that ten hours of sound need no more memory than ten minutes. The
// stages are: findBlocks, then hearBlock for each block, then assemble. hearBlock consists of withEncoded,
// detect, decodeWindows, placeInRecording and hearRest. Diarization reads the same sound and passes its turns
// to assemble.

import { JobFailure } from '../errors.ts'
import { isKnownToWhisper, listedCode } from '../languages.ts'
import type { Transcript, Utterance } from '../transcripts/transcript.ts'
import { assemble, UtterancesSoFar } from './assemble.ts'
import { findBlocks } from './hear/find-windows.ts'
import { hearBlock, type Listener } from './hear/hear-block.ts'
import type { PlacedText } from './hear/place.ts'
import { contextTokens } from './hear/prompt.ts'
import { openSpeechModels, type SpeechModels } from './hear/speech-models.ts'
import type { Whisper } from './hear/whisper.ts'
import { Recording } from './hear/windows.ts'
import type { Runtime } from './onnx/runtime.ts'
import type { TranscribeInput } from './protocol.ts'
import { Diarization } from './who/diarize.ts'
import type { Voices } from './who/voices.ts'

/** All models that stay loaded between jobs. */
export type LoadedModels = SpeechModels & {
  /** The models for diarization, or the reason why there are none. */
  voices: Voices | { problem: string }
}

export function openModels(
  runtime: Runtime,
  whisper: Whisper,
  vadModel: Uint8Array,
  voices: LoadedModels['voices'],
): LoadedModels {
  return { ...openSpeechModels(runtime, whisper, vadModel), voices }
}

export type TranscribeListener = Listener & {
  /** Called with the utterances that are complete, in order and without speakers. */
  onUtterances?: (utterances: Utterance[]) => void
}

export async function transcribe(
  models: LoadedModels,
  sound: AsyncIterable<Float32Array>,
  input: TranscribeInput,
  listener: TranscribeListener,
): Promise<Transcript> {
  const { translate = false } = input
  let { language } = input
  if (language !== null) checkLanguage(models, language)
  if (translate) checkTranslation(models)
  const languageOfText = () => (translate ? 'en' : (language ?? 'en'))
  const diarization = input.diarize ? startDiarization(models) : null
  const missedSeconds: number[] = []
  const hearing: Listener = {
    onSamples: samples => listener.onSamples(samples),
    onWarning(event, fields) {
      if (event === 'speech without text') missedSeconds.push(Number(fields.from_second))
      listener.onWarning(event, fields)
    },
  }
  const context = contextTokens(models.whisper, input)
  const recording = new Recording()
  const texts: PlacedText[] = []
  const soFar = new UtterancesSoFar(input)
  const blocks = findBlocks(models.vad, heardBy(diarization, sound), recording, rowsWith(models, context.ids))
  for await (const windows of blocks) {
    const heard = await hearBlock(models, windows, {
      recording,
      language,
      context: context.ids,
      translate,
      listener: hearing,
    })
    language = heard.language
    texts.push(...heard.texts)
    listener.onUtterances?.(soFar.add(heard.texts, languageOfText()))
  }
  listener.onUtterances?.(soFar.end(languageOfText(), recording.length))
  await listener.onSamples(recording.length)
  const transcript = assemble(texts, {
    language: languageOfText(),
    samples: recording.length,
    align: input.align,
    turns: diarization?.finish(input.speakerCount).exclusive ?? null,
  })
  const voiceWarning = diarization && 'warning' in models.voices ? models.voices.warning : null
  return {
    ...transcript,
    warnings: [
      ...(context.warning ? [context.warning] : []),
      ...warningOfMissed(missedSeconds),
      ...(voiceWarning ? [voiceWarning] : []),
    ],
  }
}

/**
 * The maximum number of prompt tokens in all rows of a batch together. For each prompt token, the decoder may
 * return scores over the whole vocabulary.
 */
const positionsMax = 1000

function rowsWith({ rows }: LoadedModels, context: readonly number[]): number {
  return Math.max(1, Math.min(rows, Math.floor(positionsMax / Math.max(1, context.length))))
}

/** The warning about missed speech lists at most this many points in time. */
const placesShownMax = 5

/**
 * Returns a list with one warning about all speech without text. The list is empty if there is no such
 * speech.
 */
export function warningOfMissed(seconds: readonly number[]): string[] {
  if (seconds.length === 0) return []
  const places = seconds.slice(0, placesShownMax).map(second => `${second} s`)
  const others = seconds.length - places.length
  const more = others > 0 ? ` and ${others} more` : ''
  return [`Speech was heard but not understood at ${places.join(', ')}${more}.`]
}

/**
 * Returns the codes of the languages that the model supports. A model without language tokens supports only English.
 */
export function languagesOf({ facts }: Whisper): string[] {
  return facts.languages.size === 0 ? ['en'] : [...facts.languages.keys()]
}

function checkLanguage({ whisper }: LoadedModels, language: string): void {
  if (languagesOf(whisper).includes(listedCode(language))) return
  const remedy = isKnownToWhisper(language)
    ? 'run steno models pull large-v3-turbo, and start steno with STENO_MODEL=large-v3-turbo'
    : 'run steno models pull omnilingual'
  throw new JobFailure('PROCESSING_ERROR', `No model here knows the language ${language}: ${remedy}.`)
}

function checkTranslation({ whisper }: LoadedModels): void {
  if (whisper.facts.translate !== null) return
  throw new JobFailure(
    'PROCESSING_ERROR',
    'The loaded model cannot translate: start steno with STENO_MODEL=base or STENO_MODEL=large-v3.',
  )
}

function startDiarization({ voices }: LoadedModels): Diarization {
  if ('problem' in voices) throw new JobFailure('PROCESSING_ERROR', voices.problem)
  return new Diarization(voices)
}

/**
 * Yields the sound unchanged. Also passes each part of the sound to the diarization; null means no
 * diarization.
 */
async function* heardBy(
  diarization: Diarization | null,
  sound: AsyncIterable<Float32Array>,
): AsyncGenerator<Float32Array> {
  for await (const part of sound) {
    diarization?.add(part)
    yield part
  }
}
