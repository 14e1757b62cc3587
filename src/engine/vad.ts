// How likely each 32 ms of sound is speech: Silero VAD. The model carries a state from frame to frame; to run
// many frames at once the sound is cut into lanes that each start a second early, by when the state is right.

import { sampleRate } from './audio.ts'
import type { Runtime } from './runtime.ts'
import { openSession, type Tensor, tensor } from './session.ts'

export const frameSamples = 512
const contextSamples = 64
const stateSize = 128
const warmUpFrames = 31
const lanesMax = 16
const laneFramesMin = 62
const laneFramesMax = 248

/** Samples of a full chunk: every lane of it is as long as the others. */
export const chunkSamples = (warmUpFrames + lanesMax * laneFramesMax) * frameSamples

export type Vad = {
  /** Probabilities of the frames of the next chunk of one recording; a last frame may be cut short. */
  next(samples: Float32Array): Float32Array
  /** Forgets the recording. */
  reset(): void
  close(): void
}

export function openVad(runtime: Runtime, model: string | Uint8Array): Vad {
  const session = openSession(runtime, model)
  const run = session.run(['input', 'state', 'sr'], ['output', 'stateN'])
  const rate = tensor(runtime, 'int64', BigInt64Array.of(BigInt(sampleRate)), [])
  let context = new Float32Array(contextSamples)
  let state = new Float32Array(2 * stateSize)

  /** Frame `frame` of lane after lane, context first; before the first sample lies what was heard last. */
  const fill = (input: Float32Array, samples: Float32Array, frames: readonly number[]) => {
    for (const [lane, frame] of frames.entries()) {
      const from = frame * frameSamples - contextSamples
      const row = input.subarray(
        lane * (contextSamples + frameSamples),
        (lane + 1) * (contextSamples + frameSamples),
      )
      row.fill(0)
      if (from < 0) row.set(context)
      row.set(samples.subarray(Math.max(from, 0), from + row.length), Math.max(-from, 0))
    }
  }

  const next = (samples: Float32Array): Float32Array => {
    const frames = Math.ceil(samples.length / frameSamples)
    if (frames === 0) return new Float32Array(0)
    const lanes = Math.max(1, Math.min(lanesMax, Math.floor((frames - warmUpFrames) / laneFramesMin)))
    const laneFrames = Math.ceil(Math.max(frames - warmUpFrames, 0) / lanes)
    const steps = lanes === 1 ? frames : warmUpFrames + laneFrames
    const probabilities = new Float32Array(lanes === 1 ? frames : warmUpFrames + lanes * laneFrames)
    const input = new Float32Array(lanes * (contextSamples + frameSamples))
    // The first lane goes on from the state of the chunk before; the others start from nothing.
    const first = new Float32Array(2 * lanes * stateSize)
    first.set(state.subarray(0, stateSize))
    first.set(state.subarray(stateSize), lanes * stateSize)
    let states: Tensor = tensor(runtime, 'float32', first, [2, lanes, stateSize])
    for (let step = 0; step < steps; step++) {
      fill(
        input,
        samples,
        Array.from({ length: lanes }, (_, lane) => lane * laneFrames + step),
      )
      const given = tensor(runtime, 'float32', input, [lanes, contextSamples + frameSamples])
      const [output, after] = run([given, states, rate]) as [Tensor, Tensor]
      const heard = output.floats(lanes)
      for (let lane = 0; lane < lanes; lane++) {
        if (lane === 0 || step >= warmUpFrames) probabilities[lane * laneFrames + step] = heard[lane]!
      }
      for (const each of [given, output, states]) each.free()
      states = after
    }
    const last = states.floats(2 * lanes * stateSize)
    state = new Float32Array(2 * stateSize)
    state.set(last.subarray((lanes - 1) * stateSize, lanes * stateSize))
    state.set(last.subarray((2 * lanes - 1) * stateSize), stateSize)
    states.free()
    context = samples.slice(-contextSamples)
    if (context.length < contextSamples) {
      const padded = new Float32Array(contextSamples)
      padded.set(context, contextSamples - context.length)
      context = padded
    }
    return probabilities.subarray(0, frames)
  }

  return {
    next,
    reset: () => {
      context = new Float32Array(contextSamples)
      state = new Float32Array(2 * stateSize)
    },
    close: () => {
      rate.free()
      session.close()
    },
  }
}

export type Span = { from: number; to: number }

/** Silero's own thresholds and faster-whisper's, in frames of 32 ms where they are times. */
const speech = { begins: 0.5, ends: 0.35, silenceFrames: 8, framesMin: 4, padSamples: 0.2 * sampleRate }

/**
 * Probabilities, as they come, to spans of speech in samples. No span is longer than `samplesMax`: a longer one
 * is cut where speech is least likely in its second half.
 */
export class Segments {
  private frame = 0
  private began = -1
  private quietSince = -1
  private heard: number[] = []
  private ready: Span[] = []

  constructor(private readonly samplesMax: number) {}

  push(probabilities: Float32Array): Span[] {
    for (const probability of probabilities) this.hear(probability)
    return this.ready.splice(0)
  }

  end(samples: number): Span[] {
    if (this.began >= 0) this.close(this.quietSince >= 0 ? this.quietSince : this.frame)
    return this.ready.splice(0).map(each => ({ from: each.from, to: Math.min(each.to, samples) }))
  }

  /** Nothing before this sample can still become speech. */
  get settled(): number {
    const frame = this.began >= 0 ? this.began : this.frame
    return Math.max(0, frame * frameSamples - speech.padSamples)
  }

  private hear(probability: number): void {
    if (this.began < 0 && probability >= speech.begins) {
      this.began = this.frame
      this.heard = []
    }
    if (this.began >= 0) {
      this.heard.push(probability)
      if (probability >= speech.begins) this.quietSince = -1
      else if (probability < speech.ends && this.quietSince < 0) this.quietSince = this.frame
      if (this.quietSince >= 0 && this.frame + 1 - this.quietSince >= speech.silenceFrames) {
        this.close(this.quietSince)
      } else if ((this.heard.length + 1) * frameSamples + 2 * speech.padSamples > this.samplesMax) {
        this.cut()
      }
    }
    this.frame++
  }

  private close(end: number): void {
    if (end - this.began >= speech.framesMin) this.add(this.began, end)
    this.began = -1
    this.quietSince = -1
  }

  private cut(): void {
    let least = this.heard.length - 1
    for (let at = least; at >= this.heard.length / 2; at--)
      if (this.heard[at]! < this.heard[least]!) least = at
    this.add(this.began, this.began + least)
    this.heard = this.heard.slice(least)
    this.began += least
    if (this.quietSince >= 0) this.quietSince = Math.max(this.quietSince, this.began)
  }

  private add(begin: number, end: number): void {
    this.ready.push({
      from: Math.max(0, begin * frameSamples - speech.padSamples),
      to: end * frameSamples + speech.padSamples,
    })
  }
}
