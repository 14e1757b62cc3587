// The catalogue of known models. Each model is built in, or published on the Hugging Face hub.

import catalogue from '../../../models/catalogue.json'

type ModelFacts = {
  licence: string
  parameters: string
  summary: string
  /**
   * True for a model that only tests use. Its transcripts contain a warning, and `listModels` leaves the model out.
   */
  forTests?: boolean
}

/** `builtIn` is the path of the model's folder in the project. */
export type BuiltInModel = ModelFacts & { builtIn: string }
export type PublishedModel = ModelFacts & {
  repository: string
  revision: string
  /** The paths of the files to download. Missing for a model whose files have the layout of Whisper. */
  files?: { cpu: string[]; gpu: string[] }
}

/** The parameters for computing and comparing embeddings with an embedding model. */
export type VoiceProfile = {
  /** The features that the model reads: `fbank`, Kaldi's filterbank, or `mel`, the power in mel bands. */
  features: string
  /** Two clusters of embeddings whose mean cosine distance is `threshold` or more are different voices. */
  threshold: number
  /**
   * If this is null, `threshold` is used for every recording. If it is a number, the threshold is adapted to the
   * scatter in each recording, and two voices whose distance is below this multiple of the scatter become one voice.
   */
  likeness: number | null
  /**
   * Two prints whose dot product is `sameVoice` or more are of the same person. The value is high, so that wrong
   * names are rare: a missing name does less harm than a wrong name.
   */
  sameVoice: number
}

export type ModelId = keyof typeof catalogue

export const models = catalogue satisfies Record<string, BuiltInModel | PublishedModel>

/** The built-in speech model. It needs no download. */
export const builtInSpeech = 'base' satisfies ModelId

/** The speech model that STENO_MODEL=auto-fast chooses for all languages that `fastSpeech` supports. */
export const fastSpeech = 'parakeet' satisfies ModelId

/**
 * The value of STENO_MODEL that chooses `fastSpeech` for its languages and the default model for all other languages.
 */
export const automaticFast = 'auto-fast'

/**
 * The models for languages that Whisper does not support, best first. The first installed one is loaded in addition
 * to Whisper.
 */
export const omnilingualSpeech = ['omnilingual-1b', 'omnilingual'] as const satisfies readonly ModelId[]

/** The speech model of the self-test in `steno doctor`. */
export const testSpeech = 'pocket' satisfies ModelId

/** The two published models for diarization. */
export const publishedVoices = {
  segmentation: 'pyannote-segmentation-3.0',
  embedding: 'wespeaker-resnet34-LM',
} as const

/**
 * The published PLDA model for the embeddings of `publishedVoices`. Without it, diarization works, but finds the
 * wrong number of speakers more often.
 */
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

/** Returns the warnings that every transcript of this model contains. Only a model for tests has any. */
export function warningsOf(id: string): string[] {
  return findBuiltIn(id)?.forTests ? [`made by ${id}, a model for tests`] : []
}

/** Finds a built-in model. Returns null for an unknown or a published model. */
export function findBuiltIn(id: string): BuiltInModel | null {
  const model: BuiltInModel | PublishedModel | null = isKnownModel(id) ? models[id] : null
  return model && 'builtIn' in model ? model : null
}

/** Finds a published model. Returns null for an unknown or a built-in model. */
export function findPublished(id: string): PublishedModel | null {
  const model: BuiltInModel | PublishedModel | null = isKnownModel(id) ? models[id] : null
  return model && 'repository' in model ? model : null
}
