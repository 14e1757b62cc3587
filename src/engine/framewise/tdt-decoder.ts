// Runs the decoder of a TDT model (token-and-duration transducer) for several windows at once.

import { joinFloats } from '../../base/join-floats.ts'
import { openQuantised } from '../onnx/quantised.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { type Device, type Tensor, tensor } from '../onnx/session.ts'
import { portOf, requirePorts } from './tdt-ports.ts'

/**
 * The state of the decoder for one window: an array of layers × width values for each of the network's two state
 * inputs.
 */
export type State = readonly Float32Array[]

export type Step = { frame: Float32Array; token: number; state: State }
export type Prediction = { scores: Float32Array; state: State }

export type TdtDecoder = {
  /**
   * The number of scores that the decoder returns for one frame. There is one score for each token, and one for each
   * possible duration. The number is -1 if the model file does not give it.
   */
  scores: number
  emptyState(): State
  /** Runs the decoder once for several windows. Returns the scores and the new state for each window. */
  step(steps: readonly Step[]): Prediction[]
  close(): void
}

const stateInputs = ['input_states_1', 'input_states_2'] as const

export function openDecoder(runtime: Runtime, path: string, device: Device): TdtDecoder {
  using opened = new DisposableStack()
  const session = opened.adopt(openQuantised(runtime, path, device), each => each.close())
  const outputNames = ['outputs', 'output_states_1', 'output_states_2'] as const
  const inputNames = ['encoder_outputs', 'targets', 'target_length', ...stateInputs]
  requirePorts(session, path, inputNames, outputNames)
  const run = session.run(inputNames, outputNames)
  const integers = (name: string, values: readonly number[], dims: number[]) =>
    portOf(session.inputs, name)?.type === 'int64'
      ? tensor(runtime, 'int64', BigInt64Array.from(values, BigInt), dims)
      : tensor(runtime, 'int32', Int32Array.from(values), dims)
  const sizes = stateInputs.map(name => {
    const [layers = 1, , width = 1] = portOf(session.inputs, name)?.dims ?? []
    return { layers, width }
  })
  const kept = opened.move()
  return {
    scores: portOf(session.outputs, 'outputs')?.dims.at(-1) ?? -1,
    emptyState: () => sizes.map(({ layers, width }) => new Float32Array(layers * width)),
    step(steps) {
      const count = steps.length
      const tokens = steps.map(({ token }) => token)
      const lengths = steps.map(() => 1)
      const frames = joinFloats(steps.map(({ frame }) => frame))
      const inputs: Tensor[] = [
        tensor(runtime, 'float32', frames, [count, frames.length / count, 1]),
        integers('targets', tokens, [count, 1]),
        integers('target_length', lengths, [count]),
        ...sizes.map(({ layers, width }, index) =>
          tensor(runtime, 'float32', joinStates(steps, index, layers, width), [layers, count, width]),
        ),
      ]
      const [outputs, ...states] = run(inputs)
      const scores = outputs.dims.at(-1) ?? 0
      const all = outputs.floats(count * scores).slice()
      const after = states.map((state, index) => {
        const { layers, width } = sizes[index] ?? { layers: 0, width: 0 }
        return splitStates(state.floats(layers * count * width), count, layers, width)
      })
      for (const used of [...inputs, outputs, ...states]) used.free()
      return steps.map((_, row) => ({
        scores: all.subarray(row * scores, (row + 1) * scores),
        state: after.map(rows => rows[row] ?? new Float32Array()),
      }))
    },
    close: () => kept.dispose(),
  }
}

/**
 * Joins the states of all windows into one array of layers × windows × width values, for one state input of the
 * network. `index` is the index of this input in `stateInputs`.
 */
function joinStates(steps: readonly Step[], index: number, layers: number, width: number): Float32Array {
  const joined = new Float32Array(layers * steps.length * width)
  for (const [row, { state }] of steps.entries())
    for (let layer = 0; layer < layers; layer++)
      joined.set(
        state[index]?.subarray(layer * width, (layer + 1) * width) ?? [],
        (layer * steps.length + row) * width,
      )
  return joined
}

function splitStates(joined: Float32Array, count: number, layers: number, width: number): Float32Array[] {
  return Array.from({ length: count }, (_, row) => {
    const state = new Float32Array(layers * width)
    for (let layer = 0; layer < layers; layer++) {
      const from = (layer * count + row) * width
      state.set(joined.subarray(from, from + width), layer * width)
    }
    return state
  })
}
