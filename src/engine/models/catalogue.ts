// The models that are known by name: built into the program, or published on the hub.

import catalogue from '../../../models/catalogue.json'

type ModelFacts = {
  licence: string
  parameters: string
  summary: string
  /** Serves only when it is asked for by name. */
  forTests?: boolean
}

/** `builtIn` is a folder of the project. */
export type BuiltInModel = ModelFacts & { builtIn: string }
export type PublishedModel = ModelFacts & { repository: string; revision: string }

/** How the embeddings of a model are computed and compared. */
export type VoiceProfile = {
  /** Two groups of embeddings are two voices when their mean cosine distance is at least this. */
  threshold: number
  /** Embeddings are computed in every n-th view; views are one second apart. */
  every: number
  /** The most sound that one embedding is made of: a large model would take longer for it than recognition. */
  embeddingSecondsMax: number
}

export type ModelId = keyof typeof catalogue

export const models = catalogue satisfies Record<string, BuiltInModel | PublishedModel>

/** The model that serves without a choice and without a network. */
export const builtInSpeech = 'pocket' satisfies ModelId

/** The speech model that checks the program itself. */
export const testSpeech = 'pocket' satisfies ModelId

/** The two models of every job that asks for speakers. */
export const publishedVoices = {
  segmentation: 'pyannote-segmentation-3.0',
  embedding: 'wespeaker-resnet34-LM',
} as const

/** The same two for a built-in speech model. */
export const builtInVoices = {
  segmentation: 'pocket-segmentation',
  embedding: 'pocket-embedding',
} as const

export function isVoiceModel(id: string): boolean {
  return [publishedVoices, builtInVoices].some(pair =>
    Object.values(pair).some(voiceModel => voiceModel === id),
  )
}

export function isKnownModel(id: string): id is ModelId {
  return Object.hasOwn(models, id)
}

/** The names of all models that recognise speech: the known values of STENO_MODEL. */
export function speechModelNames(): string[] {
  return Object.keys(models).filter(id => !isVoiceModel(id))
}

/** Sentences that every transcript of the model carries. */
export function warningsOf(id: string): string[] {
  return findBuiltIn(id)?.forTests ? [`made by ${id}, a model for tests`] : []
}

/** Null for a model that is unknown or published. */
export function findBuiltIn(id: string): BuiltInModel | null {
  const model: BuiltInModel | PublishedModel | null = isKnownModel(id) ? models[id] : null
  return model && 'builtIn' in model ? model : null
}

/** Null for a model that is unknown or built in. */
export function findPublished(id: string): PublishedModel | null {
  const model: BuiltInModel | PublishedModel | null = isKnownModel(id) ? models[id] : null
  return model && 'repository' in model ? model : null
}
