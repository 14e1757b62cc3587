import { expect, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { openSegmentation } from '../../../src/engine/who/segmentation.ts'
import { viewFrames, viewSamples } from '../../../src/engine/who/views.ts'
import { clips, runtime, unless, voices } from '../../support/engine-room.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { readSound } from '../../support/read-sound.ts'

const sound = clips ? readSound(join(clips, 'en-two-voices.flac')) : null
const missing = !voices || !clips
const step = 59 * 270

test.skipIf(missing)(
  `the model in two files, with 8-bit weights, finds the classes of the whole model in 99 % of the frames${unless(clips, 'pocket models with the clips')}`,
  async () => {
    const whole = temporaryFolder()
    cpSync(join(voices!.segmentation, 'onnx/model.onnx'), join(whole, 'onnx/model.onnx'))
    const speech = await sound!
    const heard = new Float32Array(viewSamples + 7 * step)
    for (let at = 0; at < heard.length; at += speech.length)
      heard.set(speech.subarray(0, heard.length - at), at)
    const [divided, expected] = [voices!.segmentation, whole].map(folder =>
      openSegmentation(runtime(), folder, 'cpu')(heard, 8, step),
    ) as [Uint8Array, Uint8Array]
    expect(divided.length).toBe(8 * viewFrames)
    const same = divided.filter((each, frame) => each === expected[frame]).length
    expect(same / divided.length).toBeGreaterThan(0.99)
    expect(new Set(divided).size).toBeGreaterThan(2)
  },
)

test.skipIf(missing)(
  `the classes of a view do not depend on the other views of its batch${unless(clips, 'pocket models with the clips')}`,
  async () => {
    const find = openSegmentation(runtime(), voices!.segmentation, 'cpu')
    const speech = await sound!
    const heard = new Float32Array(viewSamples + step)
    heard.set(speech.subarray(0, heard.length))
    const alone = find(heard.subarray(step), 1, step)
    const loud = heard.map((value, at) => (at < step ? value * 3 : value))
    expect(find(loud, 2, step).subarray(viewFrames)).toEqual(alone)
  },
)
