import { expect, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { clips, pocket, unless } from '../support/engine-room.ts'
import { withCachePosition, withExternalData } from '../support/export-layouts.ts'
import { temporaryFolder } from '../support/folder.ts'
import { steno } from '../support/program.ts'

/**
 * Copies the pocket model (a tiny Whisper model for tests), and calls `change` for each ONNX graph with 32-bit float
 * weights in the copy. Returns the folder of the copy.
 */
async function changedPocket(change: (path: string, model: Uint8Array) => Promise<void>): Promise<string> {
  const folder = join(temporaryFolder(), 'mine')
  cpSync(pocket ?? '', folder, { recursive: true })
  for (const name of ['encoder_model.onnx', 'decoder_model_merged.onnx']) {
    const path = join(folder, 'onnx', name)
    await change(path, await Bun.file(path).bytes())
  }
  return folder
}

const layouts = {
  'external data': () =>
    changedPocket(async (path, model) => {
      const changed = withExternalData(model, `${path.split('/').at(-1)}_data`)
      expect(changed.content.length).toBeGreaterThan(0.8 * model.length)
      await Bun.write(path, changed.model)
      await Bun.write(`${path}_data`, changed.content)
    }),
  'the input cache_position': () =>
    changedPocket(async (path, model) => {
      if (path.includes('decoder')) await Bun.write(path, withCachePosition(model))
    }),
}

test.skipIf(!pocket || !clips).each(Object.entries(layouts))(
  `a model of one's own with %s gives the words of the usual layout, as text on stdout${unless(pocket && clips, 'pocket model with its clips')}`,
  async (_, folderOf) => {
    const { code, out } = await steno(['transcribe', join(clips ?? '', 'es-a.flac'), '--language', 'es'], {
      STENO_MODEL: await folderOf(),
      STENO_DATA_DIR: temporaryFolder(),
    })
    expect({ code, out: out.trim() }).toEqual({
      code: 0,
      out: 'Nos vemos el jueves a las cinco. ¿Está viejo el informe?',
    })
  },
  60_000,
)
