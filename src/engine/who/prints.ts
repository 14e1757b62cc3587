// Voice prints. A voice print is one embedding for the speech of one person. Two prints of the same embedding model are
// compared by their dot product.

import { sampleRate } from '../audio.ts'
import type { Embedder } from './embedder.ts'
import { lengthOf, type SoundSpan, totalOf } from './sound-spans.ts'
import { finiteUnit } from './unit.ts'

/** The minimum length, in samples, of the speech for a voice print. */
export const printSamplesMin = 5 * sampleRate
/** The number of feature frames in a part of the speech that gets one embedding: 2.4 s. */
const partFrames = 240
/** The minimum number of frames in the last part of a span of speech. A shorter last part is left out. */
const partFramesMin = 80

/**
 * Returns the voice print of each group of spans. A group has the spans of one person. The print is null for a group
 * with fewer than `printSamplesMin` samples, or without a usable embedding.
 */
export async function printsOf(
  embedder: Embedder,
  sound: AsyncIterable<Float32Array>,
  groups: readonly (readonly SoundSpan[])[],
): Promise<(Float32Array | null)[]> {
  const sounds = await cut(sound, groups)
  return sounds.map((parts, group) =>
    totalOf(groups[group] ?? []) < printSamplesMin ? null : printOf(embedder, parts),
  )
}

/**
 * Returns, for each group, the samples of each of its spans. Reads the recording only once, up to the end of the last
 * span.
 */
async function cut(
  sound: AsyncIterable<Float32Array>,
  groups: readonly (readonly SoundSpan[])[],
): Promise<Float32Array[][]> {
  const cuts = groups.map(spans => spans.map(span => ({ span, samples: new Float32Array(lengthOf(span)) })))
  const end = Math.max(0, ...groups.flat().map(({ to }) => to))
  let at = 0
  for await (const part of sound) {
    for (const { span, samples } of cuts.flat()) {
      const wanted = part.subarray(Math.max(0, span.from - at), Math.max(0, span.to - at))
      if (wanted.length > 0) samples.set(wanted, Math.max(0, at - span.from))
    }
    at += part.length
    if (at >= end) break
  }
  return cuts.map(group => group.map(({ samples }) => samples))
}

/**
 * Returns the voice print of one person: the mean of the embeddings of all parts of the speech. The weight of a part is
 * its duration. The mean is scaled to the Euclidean norm 1. Returns null without a usable embedding.
 */
function printOf(embedder: Embedder, sounds: readonly Float32Array[]): Float32Array | null {
  const parts = sounds.flatMap(sound => {
    const features = embedder.withoutNoise(embedder.features(sound))
    return partsOf(features, embedder.width)
  })
  const vectors = embedder.embed(parts)
  const sum = new Float32Array(vectors.find(vector => vector !== null)?.length ?? 0)
  for (const [index, vector] of vectors.entries())
    for (const [at, value] of (vector ?? []).entries()) sum[at]! += value * (parts[index]?.length ?? 0)
  return sum.length === 0 ? null : finiteUnit(sum)
}

function partsOf(features: Float32Array, width: number): Float32Array[] {
  const parts: Float32Array[] = []
  for (let from = 0; from + partFramesMin * width <= features.length; from += partFrames * width)
    parts.push(features.subarray(from, from + partFrames * width))
  return parts
}
