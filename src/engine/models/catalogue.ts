// The catalogue of known models. Each model is built in, or published on the Hugging Face hub.

import catalogue from '../../../models/catalogue.json'

type ModelFacts = {
  licence: string
  parameters: string
  summary: string
  /** True for a model that only tests use. Its transcripts have a warning, and `listModels` omits it. */
  forTests?: boolean
}

/** `builtIn` is the path of the model's folder in the project. */
export type BuiltInModel = ModelFacts & { builtIn: string }
export type PublishedModel = ModelFacts & {
  repository: string
  revision: string
  /** The files to download, for a model whose files do not have the layout of Whisper. */
  files?: { cpu: string[]; gpu: string[] }
}

/** The parameters for computing and comparing embeddings with an embedding model. */
export type VoiceProfile = {
  /** The features that the model reads: `fbank`, Kaldi's filterbank, or `mel`, the power in mel bands. */
  features: string
  /**
   * Two clusters of embeddings are different voices when their mean cosine distance is `threshold` or more.
   */
  threshold: number
  /**
   * Null means that `threshold` is used for every recording. A number means that the threshold is adapted to the
   * scatter in each recording; then two voices are merged when their distance is below this multiple of the scatter.
   */
  likeness: number | null
  /**
   * Two prints are of the same person when the dot product of the prints is `sameVoice` or more. The value is chosen so
   * that a wrong name is rare: a speaker without a name costs less than a speaker with a wrong name.
   */
  sameVoice: number
}

export type ModelId = keyof typeof catalogue

export const models = catalogue satisfies Record<string, BuiltInModel | PublishedModel>

/** The built-in speech model. It needs no download. */
export const builtInSpeech = 'base' satisfies ModelId

/** The speech model that STENO_MODEL=auto-fast uses for the languages that this model supports. */
export const fastSpeech = 'parakeet' satisfies ModelId

/** The value of STENO_MODEL that selects `fastSpeech` for its languages, and the default model for other languages. */
export const automaticFast = 'auto-fast'

/** The models for languages that Whisper does not support, best first. The best installed model is loaded too. */
export const omnilingualSpeech = ['omnilingual-1b', 'omnilingual'] as const satisfies readonly ModelId[]

/** The speech model of the self-test in `steno doctor`. */
export const testSpeech = 'pocket' satisfies ModelId

/** The two published models for diarization. */
export const publishedVoices = {
  segmentation: 'pyannote-segmentation-3.0',
  embedding: 'wespeaker-resnet34-LM',
} as const

/** The published PLDA model for the embeddings of `publishedVoices`. Diarization works without it, but counts worse. */
export const publishedPlda = 'community-1-plda' satisfies ModelId

/** The two built-in models for diarization. They are used with a built-in speech model. */
export const builtInVoices = {
  segmentation: 'pocket-segmentation',
  embedding: 'voice-encoder',
} as const

/** The two models for diarization in tests. They are used with the speech models that only tests use. */
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

export function isKnownModel(id: string): id is ModelId {
  return Object.hasOwn(models, id)
}

/** Returns the values of STENO_MODEL that are not paths: the speech models in the catalogue, and `auto-fast`. */
export function speechModelNames(): string[] {
  return [...Object.keys(models).filter(id => !isVoiceModel(id)), automaticFast]
}

/**
 * Returns the warnings that every transcript of this model contains. The list is empty except for a model
 * that only tests use.
 */
export function warningsOf(id: string): string[] {
  return findBuiltIn(id)?.forTests ? [`made by ${id}, a model for tests`] : []
}

/** Finds a built-in model. Returns null for a model that is unknown or published. */
export function findBuiltIn(id: string): BuiltInModel | null {
  const model: BuiltInModel | PublishedModel | null = isKnownModel(id) ? models[id] : null
  return model && 'builtIn' in model ? model : null
}

/** Finds a published model. Returns null for a model that is unknown or built in. */
export function findPublished(id: string): PublishedModel | null {
  const model: BuiltInModel | PublishedModel | null = isKnownModel(id) ? models[id] : null
  return model && 'repository' in model ? model : null
}
