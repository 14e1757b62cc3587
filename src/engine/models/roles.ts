// The models of the catalogue that steno uses for each purpose.

import { type ModelId, models } from './catalogue.ts'

/** The name of the built-in speech model. It needs no download. */
export const builtInSpeech = 'base' satisfies ModelId

/** The speech model that STENO_MODEL=auto-fast uses for each language that this model supports. */
export const fastSpeech = 'parakeet' satisfies ModelId

/**
 * The value of STENO_MODEL that selects the speech model `fastSpeech` for each language that this model supports. For
 * all other languages, steno uses the same models as without STENO_MODEL.
 */
export const automaticFast = 'auto-fast'

/**
 * The speech models for languages that Whisper does not support, best first. The first model of this list that is
 * installed and undamaged is loaded beside Whisper.
 */
export const omnilingualSpeech = ['omnilingual-1b', 'omnilingual'] as const satisfies readonly ModelId[]

/** The speech model of the self-test in `steno doctor`. */
export const testSpeech = 'pocket' satisfies ModelId

/** The two voice models that steno can download: one for segmentation, one for embeddings. */
export const publishedVoices = {
  segmentation: 'pyannote-segmentation-3.0',
  embedding: 'wespeaker-resnet34-LM',
} as const

/**
 * The PLDA model (probabilistic linear discriminant analysis) for the embeddings of `publishedVoices`. Steno can
 * download it. Without this model, diarization finds a wrong number of speakers more often.
 */
export const publishedPlda = 'community-1-plda' satisfies ModelId

/** The built-in voice models, which are used when the voice models for download are not installed. */
export const builtInVoices = {
  segmentation: 'pocket-segmentation',
  embedding: 'voice-encoder',
} as const

/** The two voice models for tests. A speech model for tests uses them even if other voice models are installed. */
export const testVoices = {
  segmentation: 'pocket-segmentation',
  embedding: 'pocket-embedding',
} as const

export function isVoiceModel(id: string): boolean {
  if (id === publishedPlda) return true
  return [publishedVoices, builtInVoices, testVoices].some(pair =>
    Object.values(pair).some(voiceModel => voiceModel === id),
  )
}

/**
 * Returns the names that STENO_MODEL accepts: the names of the speech models, and `auto-fast`. STENO_MODEL also accepts
 * the path of a folder.
 */
export function speechModelNames(): string[] {
  return [...Object.keys(models).filter(id => !isVoiceModel(id)), automaticFast]
}
