// Opens a Whisper network whose decoder caches stay in the memory of a GPU. steno builds its own ONNX graphs, with the
// float weights from the files of the model. Tests run these graphs on a CPU.

import { firstLineOf } from '../../base/reason.ts'
import { floatDecoder } from '../network/float-decoder.ts'
import { floatEncoder } from '../network/float-encoder.ts'
import type { FloatLayers } from '../network/float-layers.ts'
import type { FloatSize, FloatType } from '../network/float-size.ts'
import type { FloatWeights } from '../network/float-weights.ts'
import { type FloatVariant, openWeights } from '../network/source.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { type Device, openSession } from '../onnx/session.ts'
import type { SessionOptions } from '../onnx/session-options.ts'
import { rulesOf } from './allowed.ts'
import { CacheSessions } from './device-caches.ts'
import { checkDecoder } from './device-check.ts'
import { DeviceDecoder } from './device-decoder.ts'
import { makeEncoder } from './device-encoder.ts'
import type { Facts } from './facts.ts'
import type { Network } from './network.ts'

export type DeviceOptions = { device: Device; type: FloatType }

/**
 * Opens a model on a GPU with 16-bit floats, and checks its decoder. After an error, tries again with 32-bit floats,
 * and throws if this fails too. Both attempts read the same weight files, and convert the weights in memory if they
 * have the other format. `variant` is the suffix of the ONNX files, such as `_fp16`. They are read if the folder has no
 * `model.safetensors`.
 */
export function openDevice(
  runtime: Runtime,
  folder: string,
  facts: Facts,
  { device, variant, notes }: { device: Device; variant: FloatVariant; notes: string[] },
): Network {
  const weights = openWeights(folder, variant)
  const size = sizeOf(weights, facts)
  const open = (type: FloatType) => {
    const network = openSized(runtime, weights, facts, { device, type, size })
    try {
      checkDecoder(network, facts)
      return network
    } catch (error) {
      network.close()
      throw error
    }
  }
  try {
    return open('float16')
  } catch (error) {
    notes.push(`16-bit floats cannot be used on ${device}: ${firstLineOf(error)}`)
    return open('float32')
  }
}

export function openFloats(
  runtime: Runtime,
  weights: FloatWeights,
  facts: Facts,
  options: DeviceOptions,
): Network {
  return openSized(runtime, weights, facts, { ...options, size: sizeOf(weights, facts) })
}

function openSized(
  runtime: Runtime,
  weights: FloatWeights,
  facts: Facts,
  { device, type, size }: DeviceOptions & { size: FloatSize },
): Network {
  using opened = new DisposableStack()
  const keep = <Part extends { close(): void }>(part: Part) => opened.adopt(part, each => each.close())
  const open = (layers: FloatLayers, options: SessionOptions = {}) =>
    keep(openSession(runtime, layers.bytes(), device, constantsOf(layers), options))
  const encoder = open(floatEncoder(weights, size, type))
  const { suppressed } = rulesOf(facts, true)
  const layers = floatDecoder(weights, size, type, { ...facts, suppressed })
  const session = open(layers, { cudaGraphs: device === 'cuda' })
  const memory = keep(session.memory(device))
  const sessions = keep(new CacheSessions({ runtime, device, size, type }))
  const decoder = keep(new DeviceDecoder({ runtime, session, memory, device, facts, size, type }, sessions))
  const kept = opened.move()
  return {
    encoder: makeEncoder(runtime, encoder, memory, { facts, size, type }),
    decoder,
    attendingDecoder: size.alignmentHeads.length > 0 ? decoder : null,
    windowBytes: decoder.windowBytes,
    hasFullRows: true,
    close: () => kept.dispose(),
  }
}

function sizeOf(weights: FloatWeights, { width, heads, layers, alignmentHeads }: Facts): FloatSize {
  const layersOf = (half: string) => {
    let count = 0
    while (weights.has(`${half}.layers.${count}.fc1.weight`)) count++
    return count
  }
  const decoderLayers = layersOf('decoder')
  if (decoderLayers === 0) throw new Error('its weights have other names than those of the published models')
  if (decoderLayers !== layers)
    throw new Error(
      `the weights are of a model with ${decoderLayers} decoder layers, config.json of ${layers}`,
    )
  // Word times are computed from the attention of the alignment heads. The graphs return this attention layer by layer,
  // so the alignment heads are sorted by layer.
  const inOrder = (alignmentHeads ?? []).toSorted(([one], [other]) => one - other)
  const positionsOf = (half: string) => weights.get(`${half}.embed_positions.weight`)?.().dims[0] ?? 0
  return {
    width,
    heads,
    frames: positionsOf('encoder'),
    positions: positionsOf('decoder'),
    encoderLayers: layersOf('encoder'),
    decoderLayers,
    alignmentHeads: inOrder,
  }
}

function constantsOf({ used }: FloatLayers) {
  return new Map(
    [...used].map(([name, { type, dims, bytes }]) => [
      name,
      { type: type === 'F16' ? 'float16' : 'float32', dims, bytes } as const,
    ]),
  )
}
