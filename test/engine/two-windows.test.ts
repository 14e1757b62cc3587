// Tests a recording of two windows in real engine processes, with two threads and with one. With two threads, both
// windows are encoded at the same time.

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { prepareModel } from '../../src/engine/models/choose.ts'
import { Worker } from '../../src/engine/worker.ts'
import type { Transcript } from '../../src/transcripts/transcript.ts'
import { defaults } from '../support/defaults.ts'
import { clips, firstOf, unless } from '../support/engine-room.ts'
import { temporaryFolder } from '../support/folder.ts'
import { plainInput } from '../support/plain-input.ts'
import { readSound } from '../support/read-sound.ts'
import { wavFile } from '../support/sound.ts'

const model = firstOf('models/whisper-base/compact.safetensors')
const missing = !model || !clips

/** Writes 36 s of speech, which do not fit into one window: two clips with a pause between them. Returns the path. */
async function writeSound(): Promise<string> {
  const folder = clips ?? ''
  const [one, other] = await Promise.all(
    ['en-20s.flac', 'monologue-01.opus'].map(name => readSound(join(folder, name))),
  )
  if (!one || !other) throw new Error('there are two clips')
  const sound = new Float32Array(one.length + 16_000 + other.length)
  sound.set(one)
  sound.set(other, one.length + 16_000)
  const path = join(temporaryFolder(), 'sound.wav')
  await Bun.write(path, wavFile(Int16Array.from(sound, value => Math.round(value * 32_767))))
  return path
}

async function transcribe(path: string, threads: number): Promise<Transcript> {
  const dataDir = temporaryFolder()
  const settings = { ...defaults, model: 'base', device: 'cpu' as const, dataDir, threads }
  const worker = new Worker(await prepareModel(settings, () => {}), settings, { dataDir })
  try {
    await worker.load()
    const { signal } = new AbortController()
    return await worker.run(plainInput({ path, durationMs: 60_000 }), { signal, onSeconds: () => {} })
  } finally {
    await worker.kill()
  }
}

test.skipIf(missing)(
  `two windows have the same transcript with two threads as with one${unless(model && clips, 'built-in model with clips')}`,
  async () => {
    const path = await writeSound()
    const transcript = await transcribe(path, 2)
    expect(transcript).toEqual(await transcribe(path, 1))
    expect(transcript.full_transcript).toMatch(
      /^The green station.* company at night\. Oliver said.* 10 o'clock\.$/s,
    )
  },
  120_000,
)
