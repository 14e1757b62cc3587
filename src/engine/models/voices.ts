// The two models that tell voices apart: their folders, or how to get them.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pocketVoices } from '../onnx/library.ts'
import {
  embeddingModel,
  segmentationModel,
  type VoiceProfile,
  voiceModels,
  voiceProfile,
} from './catalogue.ts'

/** The folders of the two models, and how the embeddings are compared. */
export type VoiceFiles = { segmentation: string; embedding: string; profile: VoiceProfile }

/** The problem is a sentence for the caller whose job asks for speakers. */
export type VoiceChoice = VoiceFiles | { problem: string }

/** The voice models that serve beside a speech model: the built-in one has its own, all others share those in `dir`. */
export function voicesFor(speechModel: string, dir: string): VoiceChoice {
  if (speechModel === 'pocket') return pocketChoice()
  const missing = missingVoiceModels(dir)
  if (missing.length > 0) {
    const pulls = missing.map(id => `steno models pull ${id}`).join(' && ')
    return {
      problem: `The models for telling speakers apart are missing: run ${pulls}, or put their folders into ${dir}; then start steno again`,
    }
  }
  return {
    segmentation: join(dir, segmentationModel),
    embedding: join(dir, embeddingModel),
    profile: voiceProfile,
  }
}

/** The model file of a folder in Hugging Face layout: always 32-bit, because fp16 and int8 spoil the embeddings. */
export function modelFile(folder: string): string {
  return join(folder, 'onnx', 'model.onnx')
}

export function missingVoiceModels(dir: string): string[] {
  return voiceModels.filter(id => !existsSync(modelFile(join(dir, id))))
}

function pocketChoice(): VoiceChoice {
  const folders = pocketVoices()
  if (folders === null) return { problem: 'This build carries no models for telling speakers apart' }
  return { ...folders, profile: { threshold: 0.55, every: 2, embeddingSecondsMax: 10 } }
}
