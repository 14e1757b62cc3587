import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readRttm, score } from '../../scripts/bench/support/der.ts'
import { selfCommand } from '../../src/base/self.ts'
import type { SpeakerTurn } from '../../src/transcripts/transcript.ts'
import { findCommand } from '../support/command.ts'
import { compactPocket } from '../support/compact-pocket.ts'
import { clips, pocket, unless } from '../support/engine-room.ts'
import { temporaryFolder } from '../support/folder.ts'
import { steno } from '../support/program.ts'

const missing = !pocket || !clips
const skipped = unless(pocket && clips, 'pocket model with its clips')
const folder = temporaryFolder()

const settings = {
  STENO_MODEL: pocket && clips ? await compactPocket(pocket) : '',
  STENO_DATA_DIR: join(folder, 'data'),
}

const run = (...args: string[]) => steno(['transcribe', ...args], settings)
const clip = (name: string) => join(clips ?? '', name)

/** Transcribes a clip that the command reads from standard input. */
function runOnInput(name: string, ...args: string[]) {
  const { exitCode, stdout } = Bun.spawnSync(selfCommand('transcribe', ...args), {
    stdin: Bun.file(clip(name)),
    env: { ...process.env, ...settings },
  })
  return { code: exitCode, out: `${stdout}` }
}

test.skipIf(missing)(
  `a file behind stdin is read through /dev/stdin, and its RTTM has the turns of the diarization, which fit the speech better than the utterances${skipped}`,
  async () => {
    const out = join(folder, 'turns')
    const options = ['--diarize', '--speakers', '2', '--format', 'json,rttm', '--out', out, '--quiet']
    expect(runOnInput('en-two-voices.flac', '/dev/stdin', ...options)).toEqual({ code: 0, out: '' })
    const transcript = await Bun.file(join(out, 'stdin.json')).json()
    expect(transcript).not.toHaveProperty('turns')
    const { sentences } = await Bun.file(clip('en-two-voices.json')).json()
    const said = readRttm(await Bun.file(join(out, 'stdin.rttm')).text())
    expect([...new Set(said.map(({ speaker }) => speaker))]).toEqual(['SPEAKER_1', 'SPEAKER_2'])
    const truth = sentences.map(({ start, end, speaker }: SpeakerTurn) => ({ from: start, to: end, speaker }))
    // The low diarization error rate shows that the RTTM file has the turns of the speakers. With the times of the
    // utterances, the rate would be 4 %.
    expect(score(truth, said, 0).rate).toBeLessThan(0.02)
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

test('a skipped source is counted even if it is the only one, and a missing source creates no output folder', async () => {
  const out = temporaryFolder()
  await Bun.write(join(out, 'transcribe.test.txt'), 'kept')
  const skip = ['--out', out, '--skip-existing']
  const { code, err } = await findCommand(join(folder, 'data'), 'transcribe', import.meta.path, ...skip)
  expect([code, err]).toEqual([0, '0 of 1 done, 1 skipped\n'])
  const quiet = await findCommand(join(folder, 'data'), 'transcribe', import.meta.path, ...skip, '--quiet')
  expect([quiet.code, quiet.err]).toEqual([0, ''])
  const later = join(out, 'later')
  const gone = await findCommand(join(folder, 'data'), 'transcribe', join(out, 'gone.mp3'), '--out', later)
  expect([gone.code, readdirSync(out)]).toEqual([1, ['transcribe.test.txt']])
})

test('an input without a byte is named as empty', () => {
  const { exitCode, stderr } = Bun.spawnSync(selfCommand('transcribe', '-'), {
    stdin: new Uint8Array(),
    env: { ...process.env, STENO_DATA_DIR: join(folder, 'data') },
  })
  expect([exitCode, `${stderr}`]).toEqual([1, 'steno: -: the input is empty\n'])
})

test('a second Ctrl-C removes the copy of standard input; a second SIGHUP, or a second signal at the same moment, does not end the command', async () => {
  const temporary = temporaryFolder()
  const module = (name: string) => JSON.stringify(join(import.meta.dir, '../../src/cli/transcribe', name))
  const script = `
    const { openFetcher } = await import(${module('fetcher.ts')})
    const { untilInterrupted } = await import(${module('interrupt.ts')})
    const { readdirSync } = await import('node:fs')
    let now = 0
    performance.now = () => now
    await untilInterrupted(async signal => {
      const fetcher = openFetcher({ fileBytesMax: 100 }, signal)
      await fetcher.bring({ kind: 'pipe', place: '-', name: 'stdin' }, { status() {} })
      console.log(readdirSync(process.env.TMPDIR).length)
      const send = async name => {
        const { promise, resolve } = Promise.withResolvers()
        process.once(name, resolve)
        process.kill(process.pid, name)
        await promise
        console.log(name)
      }
      for (const name of ['SIGTERM', 'SIGTERM', 'SIGINT']) await send(name)
      now = 1000
      for (const name of ['SIGHUP', 'SIGINT']) await send(name)
    })`
  const { exitCode, stdout } = Bun.spawnSync([process.execPath, '-e', script], {
    stdin: new TextEncoder().encode('sound'),
    env: { ...process.env, TMPDIR: temporary },
  })
  expect([exitCode, `${stdout}`]).toEqual([130, '1\nSIGTERM\nSIGTERM\nSIGINT\nSIGHUP\n'])
  expect(readdirSync(temporary)).toEqual([])
})

test.each([
  [[], 'a file is needed'],
  [[''], 'the name of a file is empty'],
  [['here.mp3'], 'here.mp3: there is no such file'],
  [['/dev/null'], '/dev/null: this is a device or a socket, not a file'],
  [[join(import.meta.path, 'a.mp3')], 'a.mp3: a part of the path is a file'],
  [[import.meta.path, '--language', 'xx'], 'xx is not a language'],
  [[import.meta.path, '--language', 'English'], 'English is not a language code; use en'],
  [[import.meta.path, '--format', 'doc'], 'doc is not'],
  [[import.meta.path, '--speakers', '2'], 'needs --diarize'],
  [[import.meta.path, '--format', 'rttm'], 'rttm needs --diarize or --channels split'],
  [[import.meta.path, '--diarize', '--speakers', '51'], 'from 1 to 50'],
  [[import.meta.path, clip('es-a.flac'), '-o', 'one.txt'], 'one.txt is one file, and there are 2 sources'],
  [
    [import.meta.path, '-o', 'one.docx'],
    'one.docx ends with none of .txt, .srt, .vtt, .json, .md, .csv, .rttm',
  ],
  [
    ['file:///tmp/one.mp3'],
    'file:///tmp/one.mp3: only addresses that begin with http:// or https:// are read',
  ],
  [['ftp://ana:hidden@box.example/one.mp3'], 'steno: ftp://box.example/one.mp3: only addresses that begin'],
  [['http://ana:hid@den@[one.mp3/a@b'], 'steno: http://[one.mp3/a@b: The address'],
  [['here.mp3', '--language', 'auto'], 'here.mp3: there is no such file'],
  [[import.meta.path, '--data-dir', '/no/such'], 'there is no folder /no/such for --data-dir'],
  [[import.meta.path, '--from', '1:2:3:4'], '--from is a time'],
  [[import.meta.path, '--from', '2', '--to', '1'], '--to is not after --from'],
  [[import.meta.path, '--max-words', '0'], '--max-words is a whole number from 1 to 50'],
  [
    [import.meta.path, '--model', 'lage-v3'],
    '--model lage-v3 is neither a known model nor a folder; the nearest known model is large-v3',
  ],
  [
    [import.meta.path, '--threads', '0'],
    '--threads=0: a whole number from 1 to 1024 is needed (steno transcribe',
  ],
  [[import.meta.path, '--fromat', 'srt'], 'no option --fromat; did you mean --format?'],
  [[import.meta.path, '--format', 'srt,vtt'], 'several formats need --out'],
  [[import.meta.path, clip('es-a.flac'), '--format', 'srt'], 'several sources as srt need --out FOLDER'],
])('%j is refused: %s', async (args, why) => {
  const environment = { ...process.env }
  const { code, err } = await findCommand(join(folder, 'data'), 'transcribe', ...args)
  // A refused command must not change the environment, because other test files run in the same process.
  expect({ ...process.env }).toEqual(environment)
  expect(code).toBeGreaterThan(0)
  expect(err).toContain(why)
})
