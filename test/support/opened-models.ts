// Opens the models that several test files use. All test files of a process share an opened model, because to open one
// takes 0.05 to 0.2 s of CPU time. So tests must not close these models.

import { openWhisper, type Variant, type Whisper } from '../../src/engine/hear/whisper.ts'
import { type VoiceFiles, voicesFor } from '../../src/engine/models/voices.ts'
import { openVoices, type Voices } from '../../src/engine/who/voices.ts'
import { runtime } from './engine-room.ts'

const whispers = new Map<string, Promise<Whisper>>()
const voiceModels = new Map<string, Voices>()

/** Returns the Whisper model in a folder, for the CPU. */
export function openedWhisper(folder: string, variant: Variant): Promise<Whisper> {
  const key = `${folder} ${variant}`
  const whisper = whispers.get(key) ?? openWhisper(runtime(), folder, { device: 'cpu', variant })
  whispers.set(key, whisper)
  return whisper
}

/**
 * Returns built-in voice models, which find out who speaks. With the speech model `pocket`, these are the voice models
 * for tests. With `base`, these are the voice models for real recordings.
 */
export function openedVoices(speechModel: 'pocket' | 'base'): Voices {
  const voices =
    voiceModels.get(speechModel) ?? openVoices(runtime(), voicesFor(speechModel, '/nowhere') as VoiceFiles)
  voiceModels.set(speechModel, voices)
  return voices
}
