// Counts the voices in each 10 ms of a window, with a small network that reads the states of Whisper's encoder. Only the
// built-in model has such a network. Diarization uses the counts.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Runtime } from '../onnx/runtime.ts'
import { firstRows, openSession, type Tensor } from '../onnx/session.ts'

/** The name of the network's file, in the folder of the speech model. */
export const voiceNetworkFile = 'voice-network.onnx'

export type VoiceNetwork = {
  /**
   * Counts the voices in a window. Returns three probabilities for each 10 ms: no voice, one voice, two voices or more.
   * The first model frame (20 ms) has its middle at the start of the window. So the first three probabilities are for
   * the 10 ms before the window. `states` is the output `states` of the encoder. `frames` is the number of model frames
   * of the window's sound.
   */
  count(states: Tensor, frames: number): Float32Array
  close(): void
}

/** Opens the network that counts voices. Returns null if the speech model in `folder` has no such network. */
export function openVoiceNetwork(runtime: Runtime, folder: string, width: number): VoiceNetwork | null {
  const file = join(folder, voiceNetworkFile)
  if (!existsSync(file)) return null
  const session = openSession(runtime, file, 'cpu', null, { singleThreaded: true })
  const run = session.run(['frames'], ['voices'])
  return {
    count(states, frames) {
      const input = firstRows(runtime, states, 'float32', [1, frames, width])
      const [voices] = run([input])
      const probabilities = voices.floats(frames * 2 * 3).slice()
      for (const used of [input, voices]) used.free()
      return probabilities
    },
    close: () => session.close(),
  }
}
