// Makes the compact form (8-bit weights) of the pocket model, which is a small Whisper model for tests. On a CPU, steno
// runs all published models in this form. The encoder of this form skips most of the silence at the end of a window, so
// a clip of a few seconds needs a third of the CPU time that it needs with the published graphs.

import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { jsonFiles } from '../../src/engine/models/layout.ts'
import { compactFile, writeCompact } from '../../src/engine/network/compact.ts'
import { floatsOf, type Weight } from '../../src/engine/network/float-weights.ts'
import { pocketWeights } from './float-weights.ts'

/** Writes the compact form of the pocket model, which is in the folder `pocket`, to `folder`. */
export async function writeCompactPocket(pocket: string, folder: string): Promise<void> {
  for (const name of jsonFiles) copyFileSync(join(pocket, name), join(folder, name))
  const weights = [...pocketWeights(pocket)].map(([name, find]) => [name, () => read(find())] as const)
  await writeCompact(new Map(weights), join(folder, compactFile))
}

/** Returns the values of a weight, without a copy of them unless a matrix is transposed. */
function read(weight: Weight): Float32Array {
  const { bytes, transposed } = weight
  return transposed ? floatsOf(weight) : new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
}
