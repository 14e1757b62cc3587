// The segmentation model. It finds up to three voices in a view, which is ten seconds of sound. The number of a voice
// is valid only in its view.
//
// On a CPU, the built-in model is divided into two files: `front` processes the sound once for all views, and `body`
// processes the output of `front` for each view. `body` has convolutions with 8-bit weights, which ONNX Runtime
// supports only on CPUs. On other devices, one file contains the whole model.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { modelFile } from '../models/installed-voices.ts'
import type { Runtime } from '../onnx/runtime.ts'
import type { Device } from '../onnx/session.ts'
import { openModel, type VoiceModel } from './model.ts'
import { classVoices, viewFrames, viewSamples } from './views.ts'

/**
 * Finds the voices that speak in each frame (16.9 ms) of `count` views. A view is ten seconds of sound, and starts
 * `step` samples after the view before it. Returns one byte for each frame: the index of the set of voices in
 * `classVoices`. The bytes of the first view come first, then those of the next view.
 */
export type FindClasses = (sound: Float32Array, count: number, step: number) => Uint8Array

/**
 * The output of the model file `front`, which computes the energy of the sound in frequency bands. `bands` is the
 * number of bands. `step` is the number of samples from one value of a band to the next value. `samples` is the number
 * of samples that one value covers.
 */
const front = { bands: 40, step: 90, samples: 541 }

export function openSegmentation(runtime: Runtime, folder: string, device: Device): FindClasses {
  const file = (name: string) => join(folder, 'onnx', `${name}.onnx`)
  if (device !== 'cpu' || !existsSync(file('front')))
    return openWhole(openModel(runtime, modelFile(folder), device))
  // `body` has recurrent layers, which process one frame after the other. Two threads would save no time, and need 1.75
  // times the CPU time of one thread.
  const body = openModel(runtime, file('body'), device, { singleThreaded: true })
  return openDivided(openModel(runtime, file('front'), device), body)
}

function openWhole(model: VoiceModel): FindClasses {
  checkClasses(model)
  return (sound, count, step) => {
    const views = new Float32Array(count * viewSamples)
    for (let view = 0; view < count; view++)
      views.set(sound.subarray(view * step, view * step + viewSamples), view * viewSamples)
    return model.run(views, [count, 1, viewSamples], mostLikelyClasses)
  }
}

function openDivided(filters: VoiceModel, body: VoiceModel): FindClasses {
  checkClasses(body)
  const size = Math.floor((viewSamples - front.samples) / front.step) + 1
  return (sound, count, step) => {
    if (step % front.step !== 0) throw new RangeError(`views start a multiple of ${front.step} samples apart`)
    const used = sound.subarray(0, viewSamples + (count - 1) * step)
    const views = filters.run(used, [1, 1, used.length], (energy, [, , length = 0]) => {
      const rows = new Float32Array(count * front.bands * size)
      for (let row = 0; row < count * front.bands; row++) {
        const from = (row % front.bands) * length + (Math.floor(row / front.bands) * step) / front.step
        rows.set(energy.subarray(from, from + size), row * size)
      }
      return rows
    })
    return body.run(views, [count, front.bands, size], mostLikelyClasses)
  }
}

function checkClasses({ outputSize }: VoiceModel): void {
  if (outputSize > 0 && outputSize !== classVoices.length)
    throw new Error(`the segmentation model knows ${outputSize} classes, not ${classVoices.length}`)
}

function mostLikelyClasses(scores: Float32Array, [, frames = 0, width = 0]: readonly number[]): Uint8Array {
  if (frames !== viewFrames) throw new Error(`the segmentation model gives ${frames} frames for 10 s`)
  const best = new Uint8Array(scores.length / width)
  for (let row = 0, from = 0; row < best.length; row++, from += width)
    for (let at = 1; at < width; at++) if (scores[from + at]! > scores[from + best[row]!]!) best[row] = at
  return best
}
