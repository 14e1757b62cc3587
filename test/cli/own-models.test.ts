import { expect, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { selfCommand } from '../../src/base/self.ts'
import { clips, pocket, unless } from '../support/engine-room.ts'
import { withCachePosition, withExternalData } from '../support/export-layouts.ts'
import { temporaryFolder } from '../support/folder.ts'

/**
 * Copies the pocket model (a tiny Whisper model for tests) and returns the new folder. The copy keeps the float weights
 * in separate files, and its decoder has the input `cache_position`.
 */
async function changedPocket(): Promise<string> {
  const folder = join(temporaryFolder(), 'mine')
  cpSync(pocket ?? '', folder, { recursive: true })
  for (const name of ['encoder_model.onnx', 'decoder_model_merged.onnx']) {
    const path = join(folder, 'onnx', name)
    const whole = await Bun.file(path).bytes()
    const { model, content } = withExternalData(whole, `${name}_data`)
    expect(content.length).toBeGreaterThan(0.8 * whole.length)
    await Bun.write(path, name.includes('decoder') ? withCachePosition(model) : model)
    await Bun.write(`${path}_data`, content)
  }
  return folder
}

test.skipIf(!pocket || !clips)(
  `a model of one's own with external data and the input cache_position gives the words of the usual layout, from - to stdout${unless(pocket && clips, 'pocket model with its clips')}`,
  async () => {
    const { exitCode: code, stdout } = Bun.spawnSync(selfCommand('transcribe', '-', '--language', 'es'), {
      stdin: Bun.file(join(clips ?? '', 'es-a.flac')),
      env: { ...process.env, STENO_MODEL: await changedPocket(), STENO_DATA_DIR: temporaryFolder() },
    })
    expect({ code, out: `${stdout}`.trim() }).toEqual({
      code: 0,
      out: 'Nos vemos el jueves a las cinco. ¿Está viejo el informe?',
    })
  },
  60_000,
)
