// The models that are known by name, and where they are published.

import catalogue from '../../../models/catalogue.json'

/** How the embeddings of a model are computed and compared. */
export type VoiceProfile = {
  /** Two groups of embeddings are two voices when their mean cosine distance is at least this. */
  threshold: number
  /** Embeddings are computed in every n-th view; views are one second apart. */
  every: number
  /** The most sound that one embedding is made of: a large model would take longer for it than recognition. */
  printSecondsMax: number
}

export type Known = {
  repository: string
  revision: string
  licence: string
  parameters: string
  summary: string
  /** What it does; most of them turn speech into text. */
  task?: string
  /** How the prints of an embedding model are to be compared. */
  voices?: VoiceProfile
}

export const models: Record<string, Known> = catalogue

/** The models that serve every job that asks for speakers. */
export const segmentationModel = idOf('segmentation')
export const embeddingModel = idOf('embedding')
export const voiceModels = [segmentationModel, embeddingModel]

export function isVoiceModel(id: string): boolean {
  return voiceModels.includes(id)
}

function idOf(task: string): string {
  return Object.entries(models).find(([, known]) => known.task === task)![0]
}
