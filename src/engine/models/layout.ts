// The files of a model's folder: configuration, tokenizer and weights.

import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { compactFile } from '../network/compact.ts'
import type { FloatVariant } from '../network/source.ts'
import { framewiseKind, missingFramewiseFile } from './framewise-layout.ts'

export const jsonFiles = ['config.json', 'generation_config.json', 'tokenizer.json'] as const
const weightNames = ['encoder_model', 'decoder_model_merged'] as const

/** Returns true if the folder has all files that steno needs. Does not read the content of the files. */
export function isModel(folder: string): boolean {
  const kind = framewiseKind(folder)
  if (kind !== null) return missingFramewiseFile(folder, kind) === null
  return jsonFiles.every(name => existsSync(join(folder, name))) && missingWeights(folder).length === 0
}

/**
 * Returns the paths of a Whisper model's weight files: one file in the compact form, or ONNX files with the suffix
 * `variant`. Returns no ONNX files if the encoder or the decoder is missing.
 */
export function weightFiles(folder: string, variant: string): string[] {
  if (isCompact(folder)) return [join(folder, compactFile)]
  const names = namesIn(join(folder, 'onnx'))
  if (!weightNames.every(name => names.includes(`${name}${variant}.onnx`))) return []
  const isWanted = (file: string) => weightNames.some(name => file.startsWith(`${name}${variant}.onnx`))
  return names.filter(isWanted).map(name => join(folder, 'onnx', name))
}

/** Returns true if the folder contains weights in the compact form, which is steno's own file of 8-bit weights. */
export function isCompact(folder: string): boolean {
  return existsSync(join(folder, compactFile))
}

/**
 * The suffixes in the file names of float weights, best first: `''` for 32 bits, and `_fp16` for 16 bits. 32 bits are
 * better, because a CPU computes 16-bit floats slowly.
 */
const floatVariants = ['', '_fp16'] as const satisfies readonly FloatVariant[]

/**
 * Returns the suffix in the file names of the float weights: `''` for 32 bits, or `_fp16`. Returns null if the folder
 * has no float weights. For a folder with the compact form (8-bit weights), returns `''` too, because `weightFiles`
 * returns the compact file for each suffix. So callers check `isCompact` first.
 */
export function floatVariant(folder: string): FloatVariant | null {
  return floatVariants.find(variant => weightFiles(folder, variant).length > 0) ?? null
}

/** Returns true if a CPU can run the Whisper model well: the folder has float weights or the compact form (8 bits). */
export function runsOnCpu(folder: string): boolean {
  return isCompact(folder) || floatVariant(folder) !== null
}

/**
 * Returns the folder for the compact copy (with 8-bit weights) of the model in `folder`. The copy is always in the
 * models folder `dir`.
 */
export function compactFolderOf(folder: string, dir: string): string {
  const name = basename(folder)
  if (join(dir, name) === folder) return `${folder}.compact`
  const hash = createHash('sha256').update(folder).digest('hex').slice(0, 8)
  return join(dir, `${name}.${hash}.compact`)
}

export function missingWeights(folder: string): string[] {
  if (isCompact(folder)) return []
  const names = namesIn(join(folder, 'onnx'))
  return weightNames.filter(
    weights => !names.some(name => name.startsWith(weights) && name.endsWith('.onnx')),
  )
}

export function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).toSorted() : []
}
