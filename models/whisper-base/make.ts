// Makes the built-in model from the published weights of Whisper base: bun models/whisper-base/make.ts FOLDER
//
// FOLDER has the published weights, as model.safetensors (which fetch.py writes) or as an ONNX export. Both give the
// same model.

import { join } from 'node:path'
import { compactFile, writeCompact } from '../../src/engine/network/compact.ts'
import { openSource } from '../../src/engine/network/source.ts'

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('the folder of the published weights is missing')
await writeCompact(openSource(folder), join(import.meta.dir, compactFile))
