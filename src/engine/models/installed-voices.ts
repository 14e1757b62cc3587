// Finds the files of voice models, and checks if the voice models of Hugging Face are installed.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { models } from './catalogue.ts'
import { publishedPlda, publishedVoices } from './roles.ts'

/**
 * Returns the path of a voice model's ONNX file. The voice models of Hugging Face are used with fp32 weights, because
 * fp16 and int8 weights give worse embeddings.
 */
export function modelFile(folder: string): string {
  return join(folder, 'onnx', 'model.onnx')
}

/**
 * The files of the PLDA model (probabilistic linear discriminant analysis of embeddings), relative to the model's
 * folder.
 */
export const pldaFiles = models[publishedPlda].files.cpu

export function missingVoiceModels(dir: string): string[] {
  return Object.values(publishedVoices).filter(id => !isInstalledVoice(id, dir))
}

/** Returns true if `dir` contains all files of the voice model `id`. */
export function isInstalledVoice(id: string, dir: string): boolean {
  return missingVoiceFile(id, join(dir, id)) === null
}

/** Returns an error message about the first missing file of the voice model `id`, or null if no file is missing. */
export function missingVoiceFile(id: string, folder: string): string | null {
  const paths = id === publishedPlda ? pldaFiles.map(file => join(folder, file)) : [modelFile(folder)]
  const missing = paths.find(path => !existsSync(path))
  return missing === undefined ? null : `${missing} is missing`
}
