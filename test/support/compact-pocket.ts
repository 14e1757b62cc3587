// Makes the compact form (8-bit weights) of the pocket model, a small Whisper model for tests. With this form, a clip
// of a few seconds needs a third of the CPU time of the model's ONNX graphs, which always encode 30 s.

import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { jsonFiles } from '../../src/engine/models/layout.ts'
import { compactFile, writeCompact } from '../../src/engine/network/compact.ts'
import { floatsOf, type Weight } from '../../src/engine/network/float-weights.ts'
import { pocketWeights } from './float-weights.ts'
import { filesOf, hashesOf, keptFolder } from './kept-folder.ts'

/**
 * Returns a folder with the compact form of the pocket model, a small Whisper model for tests. Tests must not change
 * its files. Writing the folder takes half a second of CPU time, so the folder is kept until the model or the code
 * changes.
 */
export function compactPocket(pocket: string): Promise<string> {
  const code = hashesOf('src/engine/{network,onnx}/*', 'test/support/{compact-pocket,float-weights}.ts')
  return keptFolder('compact-pocket/pocket', [...filesOf(pocket), ...code], async folder => {
    for (const name of jsonFiles) copyFileSync(join(pocket, name), join(folder, name))
    const weights = [...pocketWeights(pocket)].map(([name, find]) => [name, () => read(find())] as const)
    await writeCompact(new Map(weights), join(folder, compactFile))
  })
}

/** Returns the values of a weight. Copies them only if the weight is a transposed matrix. */
function read(weight: Weight): Float32Array {
  const { bytes, transposed } = weight
  return transposed ? floatsOf(weight) : new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
}
