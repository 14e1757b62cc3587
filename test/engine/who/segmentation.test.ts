import { expect, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { sampleRate } from '../../../src/engine/audio.ts'
import { openSegmentation } from '../../../src/engine/who/segmentation.ts'
import { viewFrames, viewSamples } from '../../../src/engine/who/views.ts'
import { runtime, unless, voices } from '../../support/engine-room.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { noise } from '../../support/sound.ts'

test.skipIf(!voices)(
  `the divided segmentation model finds the same classes as the whole model${unless(voices?.segmentation ?? null, 'pocket models')}`,
  () => {
    const whole = temporaryFolder()
    cpSync(join(voices!.segmentation, 'onnx/model.onnx'), join(whole, 'onnx/model.onnx'))
    const step = 59 * 270
    const sound = noise((viewSamples + 2 * step) / sampleRate, 0.2).map(
      (value, at) => value * Math.sin(at / 4000) ** 2,
    )
    const classes = [voices!.segmentation, whole].map(folder =>
      openSegmentation(runtime(), folder, 'cpu')(sound, 3, step),
    )
    expect(classes[0]?.length).toBe(3 * viewFrames)
    expect(classes[0]).toEqual(classes[1]!)
    expect(new Set(classes[0]).size).toBeGreaterThan(1)
  },
)
