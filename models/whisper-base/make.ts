// Makes the built-in model of the published weights: bun models/whisper-base/make.ts FOLDER
//
// FOLDER has them as model.safetensors, which fetch.py writes, or as an ONNX export. The result is the same.

import { join } from 'node:path'
import { compactFile, writeCompact } from '../../src/engine/network/compact.ts'
import { openSource } from '../../src/engine/network/source.ts'

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('the folder of the published weights is missing')
await writeCompact(openSource(folder), join(import.meta.dir, compactFile))
