// Opens a Whisper network in the file layout that onnx-community publishes: an encoder graph, and a decoder graph with
// a cache.

import { join } from 'node:path'
import { windowFrames, windowMelFrames } from '../audio.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { type Device, openSession, type Session, tensor } from '../onnx/session.ts'
import type { Facts } from './facts.ts'
import { EncodedWindow, type Encoder, type Network } from './network.ts'
import { makeDecoder } from './published-decoder.ts'
import { checkDecoder, checkEncoder } from './published-ports.ts'

export type PublishedVariant = '' | '_fp16' | '_quantized' | '_q4'

/**
 * The maximum width of a network that runs on one thread of a CPU. With two threads, a network of width 192 needs a
 * fifth more CPU time, because the thread that starts an operation busy-waits until the other thread has done its part.
 * The setting against busy waiting in runtime.ts does not prevent this.
 */
const singleThreadedMax = 256

export function openPublished(
  runtime: Runtime,
  folder: string,
  facts: Facts,
  { device, variant }: { device: Device; variant: PublishedVariant },
): Network {
  const singleThreaded = device === 'cpu' && facts.width <= singleThreadedMax
  using opened = new DisposableStack()
  const open = (name: string) => {
    const path = join(folder, 'onnx', `${name}${variant}.onnx`)
    const session = openSession(runtime, path, device, null, { singleThreaded })
    return opened.adopt(session, each => each.close())
  }
  const encoder = open('encoder_model')
  const decoder = open('decoder_model_merged')
  checkEncoder(encoder)
  checkDecoder(decoder, facts.layers)
  const hasAttention = decoder.outputs.some(({ name }) => name.startsWith('cross_attentions.'))
  const heads = hasAttention ? facts.alignmentHeads : null
  const floatBytes = 4
  const kept = opened.move()
  return {
    encoder: makeEncoder(runtime, encoder, facts),
    decoder: makeDecoder(runtime, decoder, facts, []),
    attendingDecoder: heads && makeDecoder(runtime, decoder, facts, heads),
    windowBytes: 2 * facts.layers * facts.width * windowFrames * floatBytes,
    hasFullRows: true,
    close: () => kept.dispose(),
  }
}

function makeEncoder(runtime: Runtime, encoder: Session, facts: Facts): Encoder {
  const [input] = encoder.inputs
  const [output] = encoder.outputs
  if (!input || !output) throw new Error('the encoder of the model has no input or no output')
  const run = encoder.run([input.name], [output.name])
  return {
    encode({ picture }) {
      const mel = tensor(runtime, 'float32', picture, [1, facts.mels, windowMelFrames])
      const states = run([mel])
      mel.free()
      return new EncodedWindow(states)
    },
  }
}
