// Makes the compact form (8-bit weights) of the pocket model, a small Whisper model for tests. With this form, a clip
// of a few seconds needs a third of the CPU time.

import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { sha256 } from '../../src/base/hash.ts'
import { Draft } from '../../src/base/whole-file.ts'
import { jsonFiles } from '../../src/engine/models/layout.ts'
import { compactFile, writeCompact } from '../../src/engine/network/compact.ts'
import { floatsOf, type Weight } from '../../src/engine/network/float-weights.ts'
import { pocketWeights } from './float-weights.ts'

const root = join(import.meta.dir, '../..')
const cache = join(root, 'node_modules/.cache/compact-pocket')
const hourMs = 60 * 60 * 1000

/**
 * Returns a folder with the compact form of the pocket model. Tests must not change its files. Writing the folder takes
 * half a second of CPU time, so the folder is kept until the model or the code changes.
 */
export async function compactPocket(pocket: string): Promise<string> {
  const key = keyOf(pocket)
  const folder = join(cache, key, 'pocket')
  if (existsSync(folder)) return folder
  mkdirSync(join(cache, key), { recursive: true })
  // Removes only folders that are older than an hour. A test run with another version of the code may still need a
  // newer one.
  for (const name of readdirSync(cache))
    if (statSync(join(cache, name)).mtimeMs < Date.now() - hourMs)
      rmSync(join(cache, name), { recursive: true, force: true })
  // Each process writes its own draft, because another test process may write the folder at the same time.
  using draft = new Draft(folder)
  mkdirSync(draft.path)
  for (const name of jsonFiles) copyFileSync(join(pocket, name), join(draft.path, name))
  const weights = [...pocketWeights(pocket)].map(([name, find]) => [name, () => read(find())] as const)
  await writeCompact(new Map(weights), join(draft.path, compactFile))
  draft.place()
  return folder
}

/**
 * Returns a hash of Bun's version, of the sizes and times of the model files, and of the code that reads the model and
 * writes the compact form.
 */
function keyOf(pocket: string): string {
  const model = [...new Glob('**/*').scanSync(pocket)].toSorted().map(path => {
    const { size, mtimeMs } = statSync(join(pocket, path))
    return `${path} ${size} ${mtimeMs}`
  })
  const code = [
    ...new Glob('{src/engine/{network,onnx}/*,test/support/{compact-pocket,float-weights}.ts}').scanSync(
      root,
    ),
  ]
  const hashes = code.toSorted().map(path => sha256(readFileSync(join(root, path))))
  return sha256([Bun.version, ...model, ...hashes].join('\n'))
}

/** Returns the values of a weight. Copies them only if the weight is a transposed matrix. */
function read(weight: Weight): Float32Array {
  const { bytes, transposed } = weight
  return transposed ? floatsOf(weight) : new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
}
