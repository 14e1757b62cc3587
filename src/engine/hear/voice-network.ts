// Finds the voices in a window of sound, with a small network that reads the output of Whisper's encoder. The network
// counts the voices, and computes vectors that are similar if the voice is the same. Only the built-in model has such a
// network.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { framesPerEmbedding } from '../audio.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { firstRows, openSession, type Tensor } from '../onnx/session.ts'

/** The name of the network's file, in the folder of the speech model. */
export const voiceNetworkFile = 'voice-network.onnx'

/** What the voice network finds in one window. */
export type VoiceReading = {
  /**
   * For each 10 ms, three probabilities: no voice, one voice, two voices or more. The first 10 ms are before the start
   * of the window, because each model frame (20 ms) has two such parts, and the middle of the first frame is at the
   * start of the window.
   */
  counts: Float32Array
  /**
   * Unit vectors, one for each two model frames. Two vectors are similar if the same voice speaks at both times. If the
   * number of frames is odd, the last frame has a vector of its own.
   */
  embeddings: Float32Array
  /** The number of values in a frame embedding. */
  width: number
}

export type VoiceNetwork = {
  /**
   * Computes the voice reading of a window: how many voices speak at each moment, and vectors of these voices. `states`
   * is an output of the speech model's encoder, with one row for each model frame (20 ms). `frames` is the number of
   * model frames that the sound of the window fills.
   */
  read(states: Tensor, frames: number): VoiceReading
  close(): void
}

/** Opens the network that finds voices. Returns null if the speech model in `folder` has no such network. */
export function openVoiceNetwork(runtime: Runtime, folder: string, width: number): VoiceNetwork | null {
  const file = join(folder, voiceNetworkFile)
  if (!existsSync(file)) return null
  const session = openSession(runtime, file, 'cpu', null, { singleThreaded: true })
  const run = session.run(['frames'], ['voices', 'embeddings'])
  const embeddingWidth = session.outputs.find(({ name }) => name === 'embeddings')?.dims.at(-1) ?? 0
  return {
    read(states, frames) {
      const input = firstRows(runtime, states, 'float32', [1, frames, width])
      const [voices, embeddings] = run([input])
      const rows = Math.ceil(frames / framesPerEmbedding)
      const reading = {
        counts: voices.floats(frames * 2 * 3).slice(),
        embeddings: embeddings.floats(rows * embeddingWidth).slice(),
        width: embeddingWidth,
      }
      for (const used of [input, voices, embeddings]) used.free()
      return reading
    },
    close: () => session.close(),
  }
}
