// Writes the encoder of Whisper base into the folder OUT as two files: an ONNX graph, and the 8-bit weights that this
// graph reads. The training of the voice network computes its inputs with this encoder.
//
//   bun encoder.ts OUT

import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { compactFile } from '../../../src/engine/network/compact.ts'
import { encoderModel } from '../../../src/engine/network/encoder.ts'
import { sizeOf } from '../../../src/engine/network/size.ts'
import { readTensorFile } from '../../../src/engine/network/tensor-file.ts'

const [folder] = process.argv.slice(2)
if (!folder) throw new Error('usage: bun encoder.ts OUT')
mkdirSync(folder, { recursive: true })
copyFileSync(join(import.meta.dir, '../../whisper-base', compactFile), join(folder, compactFile))
const tensors = readTensorFile(join(folder, compactFile))
await Bun.write(join(folder, 'encoder.onnx'), encoderModel(tensors, sizeOf(tensors)))
