// The file layouts of framewise models, which give tokens for each frame of sound. There are two kinds: CTC models have
// the layout of sherpa-onnx, and TDT models have the layout of onnx-asr.

import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'

export type FramewiseKind = 'ctc' | 'tdt'

export const tokensFile = { ctc: 'tokens.txt', tdt: 'vocab.txt' } as const
export const tdtFeaturesFile = 'nemo128.onnx'

/** The names of the ONNX files of each kind of model. For 8-bit weights, `.int8` is added to the name. */
const graphNames = { ctc: ['model'], tdt: ['encoder-model', 'decoder_joint-model'] } as const

/**
 * The two forms of the weights, named by the suffix of the file name: `.int8` for 8-bit weights, and the empty suffix
 * for fp32 weights.
 */
const variants = ['.int8', ''] as const

/**
 * Returns the kind of the framewise model (a model that gives tokens for each frame of sound) in a folder. The kind is
 * `tdt` if the folder has the vocabulary of this kind or the ONNX file `decoder_joint-model`. It is `ctc` if the folder
 * has the vocabulary of that kind or the ONNX file `model`. One of the two files is enough: if the other is missing,
 * `missingFramewiseFile` can then name it in an error message. Returns null for any other folder.
 */
export function framewiseKind(folder: string): FramewiseKind | null {
  const kinds = ['tdt', 'ctc'] as const
  const has = (kind: FramewiseKind) =>
    existsSync(join(folder, tokensFile[kind])) || variants.some(variant => hasGraph(folder, kind, variant))
  return kinds.find(has) ?? null
}

function hasGraph(folder: string, kind: FramewiseKind, variant: string): boolean {
  return existsSync(join(folder, `${graphNames[kind].at(-1)}${variant}.onnx`))
}

/**
 * Returns the paths of the model's ONNX files, in the order of `graphNames`. Prefers the faster weights: 8-bit weights
 * on a CPU, and fp32 weights on a GPU. Returns null if some ONNX files are missing in each of the two forms.
 */
export function findGraphs(folder: string, kind: FramewiseKind, gpu: boolean): string[] | null {
  const preferred = gpu ? variants.toReversed() : variants
  const pathsOf = (variant: string) => graphNames[kind].map(name => join(folder, `${name}${variant}.onnx`))
  return preferred.map(pathsOf).find(paths => paths.every(existsSync)) ?? null
}

/**
 * Returns the paths of the model's ONNX files, and of the separate files in which an ONNX file may keep its weights.
 */
export function framewiseWeights(folder: string, kind: FramewiseKind, gpu: boolean): string[] {
  const graphs = findGraphs(folder, kind, gpu) ?? []
  const external = readdirSync(folder).filter(name => /\.(data|weights)$/.test(name))
  const hasBytes = (name: string) => name.includes('.int8.')
  const isOf = (name: string, graph: string) =>
    name.startsWith(graph.replace(/onnx$/, '')) && hasBytes(name) === hasBytes(graph)
  return [
    ...graphs,
    ...external
      .filter(name => graphs.some(graph => isOf(name, basename(graph))))
      .map(name => join(folder, name)),
  ]
}

/** Returns an error message about the first missing file, or null if no file is missing. */
export function missingFramewiseFile(folder: string, kind: FramewiseKind): string | null {
  const needed = kind === 'tdt' ? [tokensFile.tdt, tdtFeaturesFile] : [tokensFile.ctc]
  const missing = needed.find(name => !existsSync(join(folder, name)))
  if (missing) return `${join(folder, missing)} is missing`
  if (findGraphs(folder, kind, false)) return null
  return `${join(folder, `${graphNames[kind].join('.onnx or ')}.onnx`)} is missing, in every variant`
}
