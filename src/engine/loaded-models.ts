// The models that stay loaded between jobs, and the choice of the models for one job.

import { JobFailure } from '../errors.ts'
import { isKnownToWhisper, listedCode } from '../languages.ts'
import type { Recording } from './hear/recording.ts'
import type { SpeechModel } from './hear/speech-model.ts'
import { openVad, type Vad } from './hear/vad.ts'
import type { Window } from './hear/windows.ts'
import type { Runtime } from './onnx/runtime.ts'
import { Diarization } from './who/diarize.ts'
import type { Voices } from './who/voices.ts'

export type LoadedModels = {
  vad: Vad
  /** The speech models, best first. A job whose language is known uses the first model that can do the job. */
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

/** Returns the first model that supports the language. Throws a JobFailure if no model supports it. */
export function modelFor(speech: LoadedModels['speech'], language: string): SpeechModel {
  const model = speech.find(({ languages }) => languages.includes(listedCode(language)))
  if (model) return model
  // The error says which model must be installed, and how steno must then be started. An omnilingual model supports the
  // languages that Whisper does not know. Beside a Whisper model, steno loads an installed omnilingual model at its
  // start. Without a Whisper model, STENO_MODEL must name the omnilingual model. Only a Whisper model has the function
  // `detect`, so this function shows whether one is loaded.
  const hasWhisper = speech.some(({ detect }) => detect !== null)
  const remedy = isKnownToWhisper(language)
    ? 'run steno models pull large-v3-turbo, and start steno with STENO_MODEL=large-v3-turbo'
    : `run steno models pull omnilingual, and start steno ${hasWhisper ? 'again' : 'with STENO_MODEL=omnilingual'}`
  throw new JobFailure('PROCESSING_ERROR', `No model here knows the language ${language}: ${remedy}.`)
}

export function translatorsOf({ speech }: LoadedModels): LoadedModels['speech'] {
  const [first, ...others] = speech.filter(({ translates }) => translates)
  if (first) return [first, ...others]
  throw new JobFailure(
    'PROCESSING_ERROR',
    'The loaded model cannot translate: start steno with STENO_MODEL=base or STENO_MODEL=large-v3.',
  )
}

export async function detectWith(
  { detector }: LoadedModels,
  windows: readonly Window[],
  recording: Recording,
): Promise<string> {
  if (detector?.detect) return await detector.detect(windows, recording)
  throw new JobFailure(
    'PROCESSING_ERROR',
    'No model here detects languages: name the language of the recording in the request.',
  )
}

export function startDiarization({ voices }: LoadedModels): Diarization {
  if ('problem' in voices) throw new JobFailure('PROCESSING_ERROR', voices.problem)
  return new Diarization(voices)
}
