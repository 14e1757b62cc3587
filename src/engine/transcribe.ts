// Transcribes sound block by block, so that ten hours of sound need no more memory than ten minutes. `findBlocks`
// yields the blocks, the method `hear` of the speech model turns each block into words, and `assemble` makes the
// transcript from the words. Diarization reads the same sound and gives the turns of the speakers to `assemble`.

import { JobFailure } from '../errors.ts'
import { isKnownToWhisper, listedCode } from '../languages.ts'
import type { Transcript, Utterance } from '../transcripts/transcript.ts'
import { assemble, UtterancesSoFar } from './assemble.ts'
import { findBlocks } from './hear/find-windows.ts'
import type { PlacedText } from './hear/place.ts'
import type { Listener, SpeechModel } from './hear/speech-model.ts'
import { openVad, type Vad } from './hear/vad.ts'
import { Recording, type Window } from './hear/windows.ts'
import type { Runtime } from './onnx/runtime.ts'
import type { TranscribeInput } from './protocol.ts'
import { Diarization } from './who/diarize.ts'
import type { Voices } from './who/voices.ts'

/** The models that stay loaded between jobs. */
export type LoadedModels = {
  vad: Vad
  /** The speech models, best first. A job uses the first model that supports its language. */
  speech: readonly [SpeechModel, ...SpeechModel[]]
  /** The model that detects the language for speech models that cannot detect it. Null if there is no such model. */
  detector: SpeechModel | null
  /** The models for diarization. If there are none, `problem` is the reason. */
  voices: Voices | { problem: string }
}

export function openModels(
  runtime: Runtime,
  speech: LoadedModels['speech'],
  vadModel: Uint8Array,
  voices: LoadedModels['voices'],
  detector: SpeechModel | null = null,
): LoadedModels {
  return { vad: openVad(runtime, vadModel), speech, detector, voices }
}

export type TranscribeListener = Listener & {
  /** Called when more utterances are complete. The utterances are in order of time, and have no speakers. */
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
  const languageOfText = () => (translate ? 'en' : (language ?? 'en'))
  const usable = translate ? translatorsOf(models) : models.speech
  // If the caller gave a language, the job uses the first model that supports this language. If the caller gave no
  // language, the job uses the first model if this model can detect languages. Otherwise `chosen` is null until the
  // detector has found the language in the first block.
  const [first] = usable
  let chosen = language === null ? (first.detect ? first : null) : modelFor(usable, language)
  const diarization = input.diarize ? startDiarization(models) : null
  const missedSeconds: number[] = []
  const hearing: Listener = {
    onSamples: samples => listener.onSamples(samples),
    onWarning(event, fields) {
      if (event === 'speech without text') missedSeconds.push(Number(fields.from_second))
      listener.onWarning(event, fields)
    },
  }
  let started = (chosen ?? first).start(input)
  const recording = new Recording()
  const texts: PlacedText[] = []
  const soFar = new UtterancesSoFar(input)
  const blocks = findBlocks(models.vad, heardBy(diarization, sound), recording, started.rows)
  for await (const windows of blocks) {
    if (chosen === null) {
      language = detectWith(models, windows, recording)
      chosen = modelFor(usable, language)
      started = chosen.start(input)
    }
    const heard = await started.hear(windows, { recording, language, translate, listener: hearing })
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
    model: (chosen ?? first).name,
    warnings: [
      ...(started.warning ? [started.warning] : []),
      ...warningOfMissed(missedSeconds),
      ...(voiceWarning ? [voiceWarning] : []),
    ],
  }
}

/**
 * The maximum number of positions in the recording that the warning about speech without text lists. A position is
 * given in seconds.
 */
const placesShownMax = 5

/**
 * Returns a list with one warning about the speech for which no text was found. The warning names at most
 * `placesShownMax` positions in the recording. The list is empty if all speech has text.
 */
export function warningOfMissed(seconds: readonly number[]): string[] {
  if (seconds.length === 0) return []
  const places = seconds.slice(0, placesShownMax).map(second => `${second} s`)
  const others = seconds.length - places.length
  const more = others > 0 ? ` and ${others} more` : ''
  return [`Speech was heard but not understood at ${places.join(', ')}${more}.`]
}

/** Returns the first model that supports the language. Throws a JobFailure if no model supports it. */
function modelFor(speech: LoadedModels['speech'], language: string): SpeechModel {
  const model = speech.find(({ languages }) => languages.includes(listedCode(language)))
  if (model) return model
  const remedy = isKnownToWhisper(language)
    ? 'run steno models pull large-v3-turbo, and start steno with STENO_MODEL=large-v3-turbo'
    : 'run steno models pull omnilingual'
  throw new JobFailure('PROCESSING_ERROR', `No model here knows the language ${language}: ${remedy}.`)
}

function translatorsOf({ speech }: LoadedModels): LoadedModels['speech'] {
  const [first, ...others] = speech.filter(({ translates }) => translates)
  if (first) return [first, ...others]
  throw new JobFailure(
    'PROCESSING_ERROR',
    'The loaded model cannot translate: start steno with STENO_MODEL=base or STENO_MODEL=large-v3.',
  )
}

function detectWith({ detector }: LoadedModels, windows: readonly Window[], recording: Recording): string {
  if (detector?.detect) return detector.detect(windows, recording)
  throw new JobFailure(
    'PROCESSING_ERROR',
    'No model here detects languages: name the language of the recording in the request.',
  )
}

function startDiarization({ voices }: LoadedModels): Diarization {
  if ('problem' in voices) throw new JobFailure('PROCESSING_ERROR', voices.problem)
  return new Diarization(voices)
}

/**
 * Yields the sound unchanged, and also passes this sound to the diarization. If `diarization` is null, only yields the
 * sound.
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
