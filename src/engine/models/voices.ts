// The two models that tell voices apart: where they lie, or what must be done to have them.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pocketVoices } from '../onnx/library.ts'
import { embeddingModel, models, segmentationModel, type VoiceProfile, voiceModels } from './catalogue.ts'

/** The folders of the two models, and how the embeddings are compared. */
export type VoiceFiles = { segmentation: string; embedding: string; profile: VoiceProfile }

/** Their folders, or why there are none: what a job that asks for speakers is told. */
export type VoiceChoice = VoiceFiles | { problem: string }

/** Those that go with a model: the built-in one has its own, all others share the published ones in `dir`. */
export function voicesFor(recogniser: string, dir: string): VoiceChoice {
  if (recogniser === 'pocket') return pocketChoice()
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
    profile: models[embeddingModel]!.voices!,
  }
}

/** The model file of a folder in Hugging Face layout. The 16-bit and 8-bit variants are not used: embeddings get worse. */
export function modelFile(folder: string): string {
  return join(folder, 'onnx', 'model.onnx')
}

export function missingVoiceModels(dir: string): string[] {
  return voiceModels.filter(id => !existsSync(modelFile(join(dir, id))))
}

function pocketChoice(): VoiceChoice {
  const folders = pocketVoices()
  if (folders === null) return { problem: 'This build carries no models for telling speakers apart' }
  return { ...folders, profile: { threshold: 0.55, every: 2, printSecondsMax: 10 } }
}
