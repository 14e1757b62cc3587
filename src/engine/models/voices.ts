// The two models that tell voices apart: their folders, or how to get them.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findCarried } from '../../base/carried.ts'
import { builtInVoices, findBuiltIn, models, publishedVoices, type VoiceProfile } from './catalogue.ts'

export type VoiceFiles = {
  /** The folders of the two models. */
  segmentation: string
  embedding: string
  /** How the embeddings are compared. */
  profile: VoiceProfile
  /** A sentence for every transcript with speakers; null when the models are the ones that should be used. */
  warning: string | null
}

/** The problem is a sentence for the caller whose job asks for speakers. */
export type VoiceChoice = VoiceFiles | { problem: string }

/**
 * The voice models that serve beside a speech model: those in `dir`. A built-in speech model can do with the built-in
 * ones, and one for tests always has them.
 */
export function voicesFor(speechModel: string, dir: string): VoiceChoice {
  const builtIn = findBuiltIn(speechModel)
  const published = {
    segmentation: join(dir, publishedVoices.segmentation),
    embedding: join(dir, publishedVoices.embedding),
    profile: models[publishedVoices.embedding].voices,
    warning: null,
  }
  if (!builtIn?.forTests && missingVoiceModels(dir).length === 0) return published
  const pulls = missingVoiceModels(dir).map(id => `steno models pull ${id}`)
  const carried = builtIn ? findCarriedVoices() : null
  if (carried && builtIn?.forTests) return carried
  if (carried) {
    const warning = `The speakers were told apart by models for tests: run ${pulls.join(' && ')} for better ones.`
    return { ...carried, warning }
  }
  return {
    problem: `The models for telling speakers apart are missing: run ${pulls.join(' && ')}, or put their folders beside the other models; then start steno again`,
  }
}

/** The model file of a folder in Hugging Face layout: always 32-bit, because fp16 and int8 spoil the embeddings. */
export function modelFile(folder: string): string {
  return join(folder, 'onnx', 'model.onnx')
}

export function missingVoiceModels(dir: string): string[] {
  return Object.values(publishedVoices).filter(id => !existsSync(modelFile(join(dir, id))))
}

function findCarriedVoices(): VoiceFiles | null {
  const segmentation = findCarried(models[builtInVoices.segmentation].builtIn)
  const embedding = findCarried(models[builtInVoices.embedding].builtIn)
  return segmentation && embedding
    ? { segmentation, embedding, profile: models[builtInVoices.embedding].voices, warning: null }
    : null
}
