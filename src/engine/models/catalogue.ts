// The models that are known by name, and where they are published.

import catalogue from '../../../models/catalogue.json'
import type { VoiceProfile } from '../who/voices.ts'

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
