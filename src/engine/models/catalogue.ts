// The models that are known by name, and where they are published.

import catalogue from '../../../models/catalogue.json'

export type CatalogueModel = {
  repository: string
  revision: string
  licence: string
  parameters: string
  summary: string
}

/** How the embeddings of a model are computed and compared. */
export type VoiceProfile = {
  /** Two groups of embeddings are two voices when their mean cosine distance is at least this. */
  threshold: number
  /** Embeddings are computed in every n-th view; views are one second apart. */
  every: number
  /** The most sound that one embedding is made of: a large model would take longer for it than recognition. */
  embeddingSecondsMax: number
}

export const models: Record<keyof typeof catalogue, CatalogueModel> = catalogue

/** The two models of every job that asks for speakers. */
export const segmentationModel = 'pyannote-segmentation-3.0'
export const embeddingModel = 'wespeaker-resnet34-LM'
export const voiceModels = [segmentationModel, embeddingModel] as const
export const voiceProfile: VoiceProfile = catalogue[embeddingModel].voices

export function isVoiceModel(id: string): boolean {
  return voiceModels.some(voiceModel => voiceModel === id)
}

export function isKnownModel(id: string): id is keyof typeof models {
  return Object.hasOwn(models, id)
}

/** The names of all models that recognise speech: the known values of STENO_MODEL. */
export function speechModelNames(): string[] {
  return Object.keys(models).filter(id => !isVoiceModel(id))
}
