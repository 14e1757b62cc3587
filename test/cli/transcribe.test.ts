import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { clips, pocket, unless } from '../support/engine-room.ts'
import { temporaryFolder } from '../support/folder.ts'
import { steno } from '../support/program.ts'

const missing = !pocket || !clips
const skipped = unless(pocket && clips, 'pocket model with its clips')
const folder = temporaryFolder()

const run = (...args: string[]) =>
  steno(['transcribe', ...args], { STENO_MODEL: pocket ?? '', STENO_DATA_DIR: join(folder, 'data') })
const clip = (name: string) => join(clips ?? '', name)

test.skipIf(missing)(
  `a file becomes text on stdout${skipped}`,
  async () => {
    const { code, out } = await run(clip('es-a.flac'), '--language', 'es')
    expect(code).toBe(0)
    expect(out).toContain('Nos vemos el')
  },
  60_000,
)

test.skipIf(missing)(
  `several files become files in a folder${skipped}`,
  async () => {
    const { code, out } = await run(clip('doctor.flac'), clip('es-a.flac'), '--format', 'json', '-o', folder)
    expect({ code, out }).toEqual({ code: 0, out: '' })
    const transcript = await Bun.file(join(folder, 'doctor.json')).json()
    expect(transcript.utterances[0].words[0]).toMatchObject({
      word: 'If',
      confidence: expect.any(Number),
    })
    expect((await Bun.file(join(folder, 'es-a.json')).json()).language).toBe('es')
  },
  60_000,
)

test.skipIf(missing)(
  `without align a caption is an utterance${skipped}`,
  async () => {
    const { out } = await run(clip('doctor.flac'), '--format', 'srt', '--no-align')
    expect(out).toMatch(
      /^1\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\nIf it is cloudy this evening, we will stay at home\.\n/,
    )
  },
  60_000,
)

test.skipIf(missing)(
  `a file without sound is an error of one line${skipped}`,
  async () => {
    const path = join(folder, 'rubbish.mp3')
    await Bun.write(path, 'no sound in here')
    const { code, out, err } = await run(path)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^steno: [^\n]+\n$/)
  },
  60_000,
)

test.each([
  [[], 'a file is needed'],
  [['here.mp3'], 'no file'],
  [[import.meta.path, '--language', 'xx'], 'xx is not a language'],
  [[import.meta.path, '--format', 'doc'], 'doc is not'],
  [[import.meta.path, '--speakers', '2'], 'needs --diarize'],
  [[import.meta.path, '--diarize', '--speakers', '51'], 'from 1 to 50'],
  [[import.meta.path, import.meta.path, '-o', 'one.txt'], 'not a folder'],
])('%j is refused: %s', async (args, why) => {
  const { code, err } = await run(...args)
  expect(code).toBeGreaterThan(0)
  expect(err).toContain(why)
})
