// Tests that a refused model leaves no session open. Each part of a model, such as the encoder, is opened as a session
// of ONNX Runtime. If the model is refused later, its open sessions must be closed, so that their memory is freed.

import { expect, test } from 'bun:test'
import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import { openCtc } from '../../src/engine/framewise/ctc.ts'
import { openTdt } from '../../src/engine/framewise/tdt.ts'
import { openPublished } from '../../src/engine/hear/published.ts'
import { Graph } from '../../src/engine/onnx/graph.ts'
import type { Runtime } from '../../src/engine/onnx/runtime.ts'
import { countedSessions } from '../support/counted-sessions.ts'
import { temporaryFolder } from '../support/folder.ts'
import { writeCtcModel, writeTdtModel } from '../support/framewise-models.ts'
import { smallFacts } from './network/small-whisper.ts'

/**
 * Returns the graph of a Whisper encoder. This graph lacks the inputs and outputs of other graphs, such as a decoder.
 * So a model that has this graph in place of another one is refused.
 */
function encoderGraph(): Uint8Array {
  const graph = new Graph()
  graph.add('Identity', [graph.input('input_features', 'float32', ['N'])], {}, ['last_hidden_state'])
  graph.output('last_hidden_state', 'float32', ['N'])
  return graph.bytes()
}

async function openPublishedWithoutDecoder(counted: Runtime, folder: string): Promise<void> {
  for (const name of ['encoder_model', 'decoder_model_merged'])
    await Bun.write(join(folder, 'onnx', `${name}.onnx`), encoderGraph())
  openPublished(counted, folder, smallFacts, { device: 'cpu', variant: '' })
}

async function openCtcOfOtherTokens(counted: Runtime, folder: string): Promise<void> {
  await writeCtcModel(folder, ['<s>', ' ', 'a'], 9)
  await openCtc(counted, { name: 'mine', folder }, 'cpu')
}

/** Opens a CTC model whose input and output have 64-bit floats. */
async function openCtcOfDoubles(counted: Runtime, folder: string): Promise<void> {
  await writeCtcModel(folder, ['<s>'])
  const graph = new Graph()
  graph.add('Identity', [graph.input('x', 'int32', ['N'])], {}, ['logits'])
  graph.output('logits', 'int32', ['N'])
  // Changes the element type: the bytes 08 06 mean int32, and the bytes 08 0b mean a 64-bit float.
  const bytes = Buffer.from(graph.bytes()).toString('hex').replaceAll('0806', '080b')
  await Bun.write(join(folder, 'model.int8.onnx'), Buffer.from(bytes, 'hex'))
  await openCtc(counted, { name: 'mine', folder }, 'cpu')
}

async function openTruncatedCtc(counted: Runtime, folder: string): Promise<void> {
  await writeCtcModel(folder, ['<s>', ' ', 'a'])
  truncateSync(join(folder, 'model.int8.onnx'), 1000)
  await openCtc(counted, { name: 'mine', folder }, 'cpu')
}

async function openTdtOfOtherTokens(counted: Runtime, folder: string): Promise<void> {
  await writeTdtModel(folder, [' the', '<blk>'])
  await Bun.write(
    join(folder, 'vocab.txt'),
    Array.from({ length: 20 }, (_, id) => `t${id} ${id}\n`)
      .join('')
      .concat('<blk> 20\n'),
  )
  await openTdt(counted, { name: 'mine', folder }, 'cpu')
}

async function openTdtWithDamage(counted: Runtime, folder: string): Promise<void> {
  await writeTdtModel(folder, [' the', '<blk>'])
  await Bun.write(join(folder, 'encoder-model.int8.onnx'), encoderGraph())
  await openTdt(counted, { name: 'mine', folder }, 'cpu')
}

test.each([
  ['published Whisper model', openPublishedWithoutDecoder, 2, 'is not a merged one'],
  ['CTC model', openCtcOfOtherTokens, 1, 'tokens.txt has 3 tokens, and'],
  ['CTC model of 64-bit floats', openCtcOfDoubles, 1, 'of an element type that is not supported: 11'],
  ['truncated CTC model, with its path,', openTruncatedCtc, 0, 'model.int8.onnx'],
  ['TDT model', openTdtOfOtherTokens, 3, 'vocab.txt has 21 tokens, and'],
  ['TDT model with a damaged encoder', openTdtWithDamage, 2, 'has no input or output named audio_signal'],
] as const)('a %s that is refused leaves no session open', async (_, open, opened, message) => {
  const { counted, counts } = countedSessions()
  await expect(open(counted, temporaryFolder())).rejects.toThrow(message)
  expect(counts).toEqual({ opened, closed: opened })
})
