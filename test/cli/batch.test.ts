// Tests the command `transcribe` with several sources. The engine and the terminal are fake. The media files and the
// output files are real.

import { expect, spyOn, test } from 'bun:test'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { Interrupted } from '../../src/cli/failure.ts'
import { OutputError, terminal } from '../../src/cli/terminal.ts'
import { Batch } from '../../src/cli/transcribe/batch.ts'
import { openFetcher } from '../../src/cli/transcribe/fetcher.ts'
import { openTarget, planOutputs, readTarget } from '../../src/cli/transcribe/output-paths.ts'
import { openScreen } from '../../src/cli/transcribe/screen.ts'
import type { Source } from '../../src/cli/transcribe/source.ts'
import { listSources } from '../../src/cli/transcribe/sources.ts'
import { readTask } from '../../src/cli/transcribe/task.ts'
import { type TaskValues, taskOptions } from '../../src/cli/transcribe/task-options.ts'
import type { OneShotEngine } from '../../src/engine/once.ts'
import type { TranscribeInput, TranscribeOptions } from '../../src/engine/request.ts'
import { limits } from '../../src/limits.ts'
import type { Transcript } from '../../src/transcripts/transcript.ts'
import { defaults } from '../support/defaults.ts'
import { clips, unless } from '../support/engine-room.ts'
import { temporaryFolder } from '../support/folder.ts'
import { wavHeader } from '../support/sound.ts'

const skipped = unless(clips, 'clips')
const sound = join(clips ?? '', 'doctor.flac')

type Transcribe = (input: TranscribeInput, options: TranscribeOptions) => Promise<Transcript>

/**
 * A fake engine. The text of a whole recording is `It rains.`, and the text of a section of a recording is
 * `It rains here.`
 */
const answer: Transcribe = async ({ durationMs, section }) => ({
  full_transcript: 'It rains.',
  language: 'en',
  duration_seconds: durationMs / 1000,
  speakers: null,
  utterances: [
    {
      start: 0.5,
      end: 1.5,
      text: `It rains${section ? ' here' : ''}.`,
      speaker: null,
      confidence: 1,
      words: [],
    },
  ],
})

type Options = {
  values?: Partial<TaskValues> & { 'skip-existing'?: boolean }
  transcribe?: Transcribe
  signal?: AbortSignal
  /** Called before each engine start. */
  onOpen?: () => void
  notes?: string[]
}

/**
 * Runs the command `transcribe`. Returns the numbers of transcribed, skipped and failed sources, the terminal output,
 * and the error that ended the command (or null). Also returns whether the engine was started with voice models (null
 * if it was not started).
 */
async function run(
  given: string[],
  {
    values = {},
    transcribe = answer,
    signal = new AbortController().signal,
    onOpen = () => {},
    notes = [],
  }: Options = {},
) {
  const written = { out: '', err: '' }
  const out = spyOn(terminal, 'out').mockImplementation(text => {
    written.out += text
  })
  const err = spyOn(terminal, 'err').mockImplementation(text => {
    written.err += text
  })
  const defaultValues = parseArgs({ args: [], options: taskOptions }).values
  const task = readTask({ ...defaultValues, ...values }, { skipExisting: values['skip-existing'] ?? false })
  const { sources, problems } = listSources(given, { recursive: values.recursive ?? false })
  const target = readTarget(values.out, values.format, sources.length)
  const outputs = planOutputs(sources, target)
  openTarget(target)
  let hasVoices: boolean | null = null
  const batch = new Batch({
    config: defaults,
    task,
    stdoutFormat: target.formats[0] ?? 'text',
    signal,
    open: async (_config, _onMessage, { diarize }) => {
      onOpen()
      hasVoices = diarize
      return { notes, transcribe, close: async () => {} } as unknown as OneShotEngine
    },
  })
  try {
    for (const { place, reason } of problems) batch.fail(place, reason)
    const error = await batch.transcribeAll(outputs).then(
      () => null,
      (caught: unknown) => caught,
    )
    return { ...batch.counts, ...written, error, hasVoices }
  } finally {
    await batch.close()
    out.mockRestore()
    err.mockRestore()
  }
}

function put(...path: string[]): string {
  const file = join(...path)
  mkdirSync(join(file, '..'), { recursive: true })
  copyFileSync(sound, file)
  return file
}

test.skipIf(!clips)(
  `a bad file is named with its reason, and the others are transcribed${skipped}`,
  async () => {
    const folder = temporaryFolder()
    const [good, other] = [put(folder, 'a.flac'), put(folder, 'c.flac')]
    const bad = join(folder, 'b.mp3')
    writeFileSync(bad, 'no sound in here')
    const cut = join(folder, 'cut.mp3')
    writeFileSync(cut, '')
    mkdirSync(join(folder, 'empty'))
    const values = { out: join(folder, 'out'), quiet: true }
    const given = [good, bad, join(folder, 'gone.mp3'), join(folder, 'empty'), cut, other]
    const ended = await run(given, { values })
    expect(ended).toMatchObject({ done: 2, failed: 4, error: null })
    expect(ended.err.split('\n').sort()).toEqual([
      '',
      `steno: ${bad}: The file is not audio or video that can be read.`,
      `steno: ${cut}: the file is empty`,
      `steno: ${folder}/empty: there is no audio or video file in this folder`,
      `steno: ${folder}/gone.mp3: there is no such file or folder`,
    ])
    expect(readdirSync(values.out).sort()).toEqual(['a.txt', 'c.txt'])
  },
)

test.skipIf(!clips)(
  `a recording without speech is named on stderr, and is no failure${skipped}`,
  async () => {
    const file = put(temporaryFolder(), 'a.flac')
    const silent: Transcribe = async (input, options) => ({
      ...(await answer(input, options)),
      full_transcript: '',
      utterances: [],
    })
    const ended = await run([file], { values: { quiet: true }, transcribe: silent })
    expect(ended).toMatchObject({ done: 1, failed: 0, out: '', error: null })
    expect(ended.err).toBe(`steno: ${file}: no speech was found; it may be silent, or contain only music\n`)
  },
)

test.skipIf(!clips)(`the engine loads the voice models only to tell speakers apart${skipped}`, async () => {
  const file = put(temporaryFolder(), 'a.flac')
  for (const diarize of [true, false])
    expect(await run([file], { values: { diarize } })).toMatchObject({ done: 1, hasVoices: diarize })
})

test.skipIf(!clips)(`without align a caption is an utterance${skipped}`, async () => {
  const file = put(temporaryFolder(), 'a.flac')
  const aligned: boolean[] = []
  const transcribe: Transcribe = (input, options) => {
    aligned.push(input.align)
    return answer(input, options)
  }
  const { out } = await run([file], { values: { 'no-align': true, format: 'srt' }, transcribe })
  expect(out).toBe('1\n00:00:00,500 --> 00:00:01,500\nIt rains.\n')
  await run([file], { transcribe })
  expect(aligned).toEqual([false, true])
})

test.skipIf(!clips)(
  `a file that vanishes while it is read is named, and the others are transcribed${skipped}`,
  async () => {
    const folder = temporaryFolder()
    const files = [put(folder, 'a.flac'), put(folder, 'b.flac')]
    let calls = 0
    const transcribe: Transcribe = async (input, options) => {
      if (calls++ === 0) {
        rmSync(input.path)
        throw new Error('no such file')
      }
      return answer(input, options)
    }
    const ended = await run(files, { values: { out: join(folder, 'out') }, transcribe })
    expect(ended).toMatchObject({ done: 1, failed: 1 })
    expect(ended.err).toContain(`steno: ${files[0]}: the file vanished while it was read\n`)
  },
)

test.skipIf(!clips)(
  `short files are transcribed at the same time, and their transcripts are in order${skipped}`,
  async () => {
    const folder = temporaryFolder()
    const files = Array.from({ length: 20 }, (_, index) =>
      put(folder, `${String(index).padStart(2, '0')}.flac`),
    )
    const begun: string[] = []
    const ended: string[] = []
    let waiting: (() => void)[] = []
    // The fake engine waits until it has 16 of the 20 files, and answers them in reverse order. Then it waits for the
    // last 4 files, and answers them in reverse order too.
    const transcribe: Transcribe = async (input, options) => {
      const made = await answer(input, options)
      begun.push(input.path)
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.unshift(resolve)
      if (begun.length === 16 || begun.length === 20) {
        for (const each of waiting) each()
        waiting = []
      }
      await promise
      ended.push(input.path)
      const text = `This is ${basename(input.path)}.`
      return { ...made, utterances: made.utterances.map(each => ({ ...each, text })) }
    }
    const { done, out } = await run(files, { transcribe })
    expect(done).toBe(20)
    expect([ended.slice(0, 16).sort(), ended.slice(16).sort()]).toEqual([files.slice(0, 16), files.slice(16)])
    expect(ended).not.toEqual(files)
    expect(out).toBe(files.map(file => `This is ${basename(file)}.\n`).join('\n'))
  },
)

test.skipIf(!clips)(
  `a terminal shows the text of one file after the other, also if they are transcribed at the same time${skipped}`,
  async () => {
    using _ = spyOn(terminal, 'isTerminal').mockReturnValue(true)
    const folder = temporaryFolder()
    const files = ['a.flac', 'b.flac'].map(name => put(folder, name))
    const transcribe: Transcribe = async (input, options) => {
      const made = await answer(input, options)
      for (const [start, text] of [
        [0, 'First'],
        [2, 'Then'],
      ] as const) {
        const said = `${text} in ${basename(input.path)}.`
        options.onUtterances?.([{ ...made.utterances[0]!, start, text: said }], 0, 'en')
        await Bun.sleep(0)
      }
      return made
    }
    const textOf = (err: string) => Bun.stripANSI(err).match(/^(.* in [ab]\.flac\.|[ab]\.flac: 0:04)/gm)
    const shown = await run(files, { transcribe })
    expect(shown.out).toBe('')
    expect(textOf(shown.err)).toEqual([
      '[0:00] First in a.flac.',
      '[0:02] Then in a.flac.',
      'a.flac: 0:04',
      '[0:00] First in b.flac.',
      '[0:02] Then in b.flac.',
      'b.flac: 0:04',
    ])
    const stopped = new AbortController()
    const stop: Transcribe = async (input, options) => {
      await transcribe(input, options)
      stopped.abort()
      throw new Error('stopped')
    }
    const interrupted = await run(files, { transcribe: stop, signal: stopped.signal })
    expect(interrupted.error).toBeInstanceOf(Interrupted)
    expect(textOf(interrupted.err)).toEqual([
      '[0:00] First in a.flac.',
      '[0:02] Then in a.flac.',
      '[0:00] First in b.flac.',
      '[0:02] Then in b.flac.',
    ])
  },
)

test.skipIf(!clips)(
  `each download is transcribed alone, exists until it is transcribed, and is removed at the end${skipped}`,
  async () => {
    const [former, temporary] = [process.env.TMPDIR, temporaryFolder()]
    process.env.TMPDIR = temporary
    const server = Bun.serve({ port: 0, fetch: () => new Response(Bun.file(sound)) })
    try {
      const running = new Set<string>()
      const seen: unknown[] = []
      const transcribe: Transcribe = async (input, options) => {
        running.add(input.path)
        const made = await answer(input, options)
        const copies = readdirSync(temporary, { recursive: true }).length
        seen.push({ isThere: existsSync(input.path), together: running.size, copies })
        running.delete(input.path)
        return made
      }
      const addresses = ['a', 'b'].map(name => `${server.url}${name}.flac`.replace('http', 'HTTP'))
      expect(await run([sound, ...addresses, sound], { transcribe })).toMatchObject({ done: 3, failed: 0 })
      // The number of entries below `temporary` during each of the three transcriptions. The first one reads `sound`, a
      // local file, which needs no entry. The other two read a download, which needs two entries: a folder and one file
      // in it. The first download is removed before the second one begins.
      const copies = [0, 2, 2]
      expect(seen).toEqual(copies.map(copies => ({ isThere: true, together: 1, copies })))
      expect(readdirSync(temporary)).toEqual([])
    } finally {
      if (former === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = former
      await server.stop(true)
    }
  },
)

test('a download above the limit is refused, and the reading of a named pipe ends when the user interrupts', async () => {
  using server = Bun.serve({ port: 0, fetch: () => new Response('x'.repeat(101)) })
  const pipe = join(temporaryFolder(), 'pipe')
  expect(Bun.spawnSync(['mkfifo', pipe]).exitCode).toBe(0)
  const writer = openSync(pipe, 'r+')
  const controller = new AbortController()
  const fetcher = openFetcher({ fileBytesMax: 100 }, controller.signal)
  const screen = openScreen('a', { number: 1, files: 1 }, { quiet: true })
  const bring = (kind: Source['kind'], place: string) => fetcher.bring({ kind, place, name: 'a' }, screen)
  try {
    await expect(bring('address', `${server.url}`)).rejects.toThrow('100 B')
    const piped = bring('pipe', pipe).catch(error => error.message)
    controller.abort(new Error('interrupted'))
    // If the command still reads the pipe after the interruption, the limit of 2 s fails the test, and `finally` closes
    // the pipe. At the test timeout, `finally` would not run.
    expect(await Promise.race([piped, Bun.sleep(2000)])).toBe('interrupted')
  } finally {
    closeSync(writer)
    fetcher.close()
  }
})

test.skipIf(!clips)(
  `a source that fails outside the engine does not make the engine load its models again${skipped}`,
  async () => {
    const out = temporaryFolder()
    writeFileSync(join(out, 'old.txt'), 'mine')
    const old = put(temporaryFolder(), 'old.flac')
    using server = Bun.serve({ port: 0, fetch: () => new Response(Bun.file(sound)) })
    const addresses = ['a', 'b'].map(name => `${server.url}${name}.flac`)
    let opened = 0
    const ended = await run([addresses[0]!, old, addresses[1]!], { values: { out }, onOpen: () => opened++ })
    expect([ended.done, ended.failed, opened]).toEqual([2, 1, 1])
  },
)

test('a copy that the temporary folder has no room for names the folder and TMPDIR', async () => {
  await using handle = await open('/dev/null')
  const full = Object.assign(new Error('write'), { code: 'ENOSPC' })
  using _ = spyOn(Object.getPrototypeOf(handle) as FileHandle, 'write').mockRejectedValue(full)
  using server = Bun.serve({ port: 0, fetch: () => new Response('sound') })
  const [former, temporary] = [process.env.TMPDIR, temporaryFolder()]
  try {
    process.env.TMPDIR = temporary
    const reason = `the temporary folder ${temporary} cannot be written: the disk is full; TMPDIR names another\n`
    expect((await run([`${server.url}`])).err).toEndWith(reason)
    process.env.TMPDIR = join(temporary, 'none')
    expect((await run([`${server.url}`])).err).toContain(`folder ${temporary}/none cannot be written: ENOENT`)
  } finally {
    if (former === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = former
  }
})

test.skipIf(!clips)(`if the engine exits, only the file that caused the exit fails${skipped}`, async () => {
  const folder = temporaryFolder()
  const files = ['a.flac', 'b.flac', 'c.flac'].map(name => put(folder, name))
  let calls = 0
  const transcribe: Transcribe = (input, options) => {
    // The command first transcribes the three files together. The engine exits, so these three calls fail. Then the
    // command transcribes each file alone.
    if (calls++ < 3 || input.path === files[1]) throw new Error('the engine process ended (SIGKILL)')
    return answer(input, options)
  }
  let opened = 0
  const onOpen = () => opened++
  const values = { out: join(folder, 'out'), quiet: true }
  const ended = await run(files, { values, transcribe, onOpen, notes: ['no GPU'] })
  expect(ended).toMatchObject({ done: 2, failed: 1 })
  const [note, failure] = ['steno: no GPU\n', `steno: ${files[1]}: the engine process ended (SIGKILL)\n`]
  expect(readdirSync(join(folder, 'out')).sort()).toEqual(['a.txt', 'c.txt'])
  // After each exit of the engine, the next file starts a new engine. The notes of the new engine, here `no GPU`, are
  // then shown again.
  expect([opened, ended.err]).toEqual([3, `${note}${note}${failure}${note}`])
})

test.skipIf(!clips)(
  `if the engine exits and no other one can be started, the transcripts that are complete are written${skipped}`,
  async () => {
    const folder = temporaryFolder()
    const files = ['a.flac', 'b.flac', 'c.flac'].map(name => put(folder, name))
    const transcribe: Transcribe = (input, options) => {
      if (input.path !== files[2]) throw new Error('the engine process ended (SIGKILL)')
      return answer(input, options)
    }
    let opened = 0
    const onOpen = () => {
      if (opened++ > 0) throw new Error('the GPU is lost')
    }
    const values = { out: join(folder, 'out'), quiet: true }
    const ended = await run(files, { values, transcribe, onOpen })
    expect(ended).toMatchObject({ done: 1, failed: 0, error: new Error('the GPU is lost') })
    expect([opened, readdirSync(values.out)]).toEqual([2, ['c.txt']])
  },
)

test.skipIf(!clips)(
  `an engine that cannot be started, or stdout that cannot be written, ends the command${skipped}`,
  async () => {
    const folder = temporaryFolder()
    const files = ['a.flac', 'b.flac'].map(name => put(folder, name))
    const onOpen = () => {
      throw new Error('there is no such model')
    }
    const unopened = await run(files, { onOpen })
    expect(unopened).toMatchObject({ done: 0, failed: 0, error: new Error('there is no such model') })
    const full = new OutputError('the disk is full')
    const transcribe: Transcribe = (input, options) => {
      spyOn(terminal, 'out').mockImplementation(() => {
        throw full
      })
      return answer(input, options)
    }
    expect(await run(files, { transcribe })).toMatchObject({ done: 0, failed: 0, error: full })
  },
)

test.skipIf(!clips)(
  `files of together more than four minutes are not transcribed at the same time${skipped}`,
  async () => {
    const folder = temporaryFolder()
    const files = ['a.wav', 'b.wav'].map(name => join(folder, name))
    const bytes = 150 * 2 * 8000
    for (const file of files) {
      writeFileSync(file, wavHeader(bytes, { sampleRate: 8000, channels: 1, bytesPerSample: 2 }))
      truncateSync(file, 44 + bytes)
    }
    const [running, most] = [new Set<string>(), new Set<number>()]
    const transcribe: Transcribe = async (input, options) => {
      most.add(running.add(input.path).size)
      const made = await answer(input, options)
      running.delete(input.path)
      return made
    }
    expect(await run(files, { transcribe })).toMatchObject({ done: 2 })
    expect([...most]).toEqual([1])
  },
)

test('a recording with more channels than can be split is refused', async () => {
  const file = join(temporaryFolder(), 'many.wav')
  const channels = limits.splitChannelsMax + 1
  writeFileSync(file, wavHeader(16_000 * channels, { sampleRate: 8000, channels, bytesPerSample: 2 }))
  truncateSync(file, 44 + 16_000 * channels)
  const ended = await run([file], { values: { channels: 'split' } })
  expect(ended).toMatchObject({ done: 0, failed: 1 })
  expect(ended.err).toBe(
    `steno: ${file}: the recording has ${channels} channels; at most ${limits.splitChannelsMax} can be split\n`,
  )
})

test.skipIf(!clips)(`an output file is never replaced, unless --overwrite says so${skipped}`, async () => {
  const folder = temporaryFolder()
  const file = put(folder, 'talk.flac')
  const out = join(folder, 'out')
  const text = join(out, 'talk.txt')
  mkdirSync(out)
  writeFileSync(text, 'mine')

  const refused = await run([file], { values: { out } })
  expect(refused).toMatchObject({ done: 0, failed: 1 })
  expect(refused.err).toBe(`steno: ${file}: ${text} exists already: --skip-existing or --overwrite\n`)
  expect(await run([file], { values: { out, 'skip-existing': true } })).toMatchObject({
    skipped: 1,
    failed: 0,
  })
  expect(readFileSync(text, 'utf8')).toBe('mine')
  expect(await run([file], { values: { out, format: 'text,srt', 'skip-existing': true } })).toMatchObject({
    done: 1,
  })
  expect([readFileSync(text, 'utf8'), existsSync(join(out, 'talk.srt'))]).toEqual(['mine', true])
  expect(await run([file], { values: { out, overwrite: true } })).toMatchObject({ done: 1 })
  expect(readFileSync(text, 'utf8')).toBe('It rains.\n')
})

test.skipIf(!clips)(
  `an output file that cannot be written is an error before any work${skipped}`,
  async () => {
    const folder = temporaryFolder()
    const files = ['folder', 'link'].map(name => put(folder, `${name}.flac`))
    const out = join(folder, 'out')
    mkdirSync(join(out, 'folder.txt'), { recursive: true })
    symlinkSync('missing', join(out, 'link.txt'))
    const inputs: string[] = []
    const transcribe: Transcribe = (input, options) => {
      inputs.push(basename(input.path))
      return answer(input, options)
    }
    const modes = [{}, { 'skip-existing': true }]
    for (const mode of modes) {
      const { err, failed } = await run(files, { values: { out, ...mode }, transcribe })
      expect([failed, inputs]).toEqual([2, []])
      expect(err).toContain(`${out}/folder.txt is a folder\n`)
      expect(err).toContain(`${out}/link.txt is a link to a missing file: remove the link, or --overwrite\n`)
    }
    const replaced = await run(files, { values: { out, overwrite: true }, transcribe })
    expect([replaced.done, replaced.failed, inputs]).toEqual([1, 1, ['link.flac']])
  },
)

test.skipIf(!clips)(`two runs on one folder at once lose nothing${skipped}`, async () => {
  const folder = temporaryFolder()
  const file = put(folder, 'talk.flac')
  const values = { out: folder }
  const other: Transcribe = async (input, options) => {
    writeFileSync(join(folder, 'talk.txt'), 'the other run')
    return answer(input, options)
  }
  const late = await run([file], { values, transcribe: other })
  expect(late).toMatchObject({ done: 0, failed: 1 })
  expect(late.err).toContain('was written by another program meanwhile')
  expect(readFileSync(join(folder, 'talk.txt'), 'utf8')).toBe('the other run')
  expect(readdirSync(folder).sort()).toEqual(['talk.flac', 'talk.txt'])
  rmSync(join(folder, 'talk.txt'))
  const both = { ...values, format: 'text,srt', 'skip-existing': true }
  const second = await run([file], { values: both, transcribe: other })
  expect(second.err).toEndWith(`→ ${folder}/talk.srt\n`)
})

test.skipIf(!clips)(
  `names with line breaks and emojis are written, and shown on one line${skipped}`,
  async () => {
    const folder = temporaryFolder()
    const name = 'two\nlines \u{1f399}\u001b[31m'
    const file = put(folder, `${name}.flac`)
    const long = put(folder, `${'x'.repeat(250)}.flac`)
    const ended = await run([file, long], { values: { out: join(folder, 'out') } })
    expect(ended).toMatchObject({ done: 2, failed: 0 })
    expect(readdirSync(join(folder, 'out')).sort()).toEqual([`${name}.txt`, `${'x'.repeat(250)}.txt`])
    expect(ended.err).toContain('two\\nlines \u{1f399}\\u001b[31m.flac')
    expect(ended.err.split('\n').length).toBe(3)
  },
)

test.skipIf(!clips)(`a file whose name is not UTF-8 is named as such${skipped}`, async () => {
  const folder = temporaryFolder()
  const file = put(folder, 'talk.flac')
  Bun.spawnSync(['bash', '-c', `mv "$0" "$1"/$'\\xff.flac'`, file, folder])
  // Bun replaces a byte that is not UTF-8 in a command-line argument by U+FFFD, so the second path names no file.
  const ended = await run([folder, join(folder, '\ufffd.flac')], {})
  expect(ended).toMatchObject({ done: 0, failed: 2 })
  expect(ended.err.match(/a name in this path is not UTF-8: rename the file or the folder\n/g)?.length).toBe(
    2,
  )
})

test.skipIf(!clips)(`files that would get one name keep their extensions or folders${skipped}`, async () => {
  const folder = temporaryFolder()
  const files = ['a.flac', 'a.mp3', 'monday/b.flac', 'tuesday/b.flac', 'c.flac'].map(name =>
    put(folder, name),
  )
  const before = process.cwd()
  process.chdir(folder)
  try {
    const given = ['a.flac', 'a.mp3', 'monday/b.flac', './tuesday/b.flac', 'c.flac', 'c.flac']
    expect(await run(given, { values: { out: 'out' } })).toMatchObject({ done: files.length })
    expect(readdirSync('out').sort()).toEqual([
      'a.flac.txt',
      'a.mp3.txt',
      'c.txt',
      'monday-b.flac.txt',
      'tuesday-b.flac.txt',
    ])
    for (const name of ['b.flac', 'b.mp3', 'b.mp3.flac']) put(folder, name)
    const nested = { values: { out: 'nested', overwrite: true } }
    expect(await run(['b.mp3.flac', 'b.flac', 'b.mp3'], nested)).toMatchObject({ done: 3 })
    expect(readdirSync('nested').sort()).toEqual(['b.flac.txt', 'b.mp3.flac.txt', 'b.mp3.txt'])
  } finally {
    process.chdir(before)
  }
})

test.skipIf(!clips)(
  `a folder is read with --recursive, without hidden files, links to nothing and other files${skipped}`,
  async () => {
    const folder = temporaryFolder()
    put(folder, 'in/one.FLAC')
    put(folder, 'in/deep/two.flac')
    put(folder, 'in/.hidden/three.flac')
    writeFileSync(join(folder, 'in/notes.txt'), 'no sound')
    symlinkSync('/nowhere', join(folder, 'in/link.flac'))
    const flat = await run([join(folder, 'in')], { values: { out: join(folder, 'flat') } })
    expect(flat).toMatchObject({ done: 1, failed: 0 })
    const deep = await run([join(folder, 'in')], { values: { out: join(folder, 'out'), recursive: true } })
    expect(deep).toMatchObject({ done: 2, failed: 0 })
    expect(readdirSync(join(folder, 'out'), { recursive: true }).sort()).toEqual([
      'deep',
      'deep/two.txt',
      'one.txt',
    ])
    const only = await run([join(folder, 'in/deep/..')], {
      values: { out: join(folder, 'flat'), 'skip-existing': true },
    })
    expect(only).toMatchObject({ skipped: 1 })
  },
)

test.skipIf(!clips)(`a section is transcribed with the times of the whole recording${skipped}`, async () => {
  const inputs: TranscribeInput[] = []
  const transcribe: Transcribe = (input, options) => {
    inputs.push(input)
    options.onTurns?.([{ start: 0.25, end: 1.75, speaker: 'SPEAKER 1' }])
    return answer(input, options)
  }
  const values = { from: '0:01', to: '3' }
  const { out } = await run([sound], { values: { ...values, format: 'csv' }, transcribe })
  expect(inputs).toMatchObject([{ durationMs: 2000, section: { fromMs: 1000, toMs: 3000 } }])
  expect(out).toBe('start,end,speaker,text\r\n1.500,2.500,,It rains here.\r\n')
  const rttm = await run([sound], { values: { ...values, format: 'rttm' }, transcribe })
  expect(rttm.out).toBe(`SPEAKER ${basename(sound)} 1 1.250 1.500 <NA> <NA> SPEAKER_1 <NA> <NA>\n`)
  const controller = new AbortController()
  const interrupted: Transcribe = async (input, options) => {
    options.onUtterances?.((await answer(input, options)).utterances, 0, 'en')
    controller.abort()
    throw new Error('killed')
  }
  const stopped = await run([sound], { values, transcribe: interrupted, signal: controller.signal })
  expect(`${stopped.error}`).toEndWith('its text up to 0:02 is in standard output')
  const late = await run([sound], { values: { from: '1:00:00' } })
  expect([late.failed, late.err]).toEqual([1, expect.stringContaining('which is not after --from')])
})

test.skipIf(!clips)(
  `an interrupted run keeps the finished files, and the text so far of the others${skipped}`,
  async () => {
    const folder = temporaryFolder()
    const files = ['a.flac', 'b.flac', 'c.flac', 'd.flac'].map(name => put(folder, name))
    const controller = new AbortController()
    const transcribe: Transcribe = async (input, options) => {
      const made = await answer(input, options)
      if (input.path === files[2]) return made
      if (input.path === files[3]) throw new Error('killed')
      const heard = ['我们开始吧。', 'OK。'].map(text => ({ ...made.utterances[0]!, text }))
      options.onUtterances?.(heard, 0, 'zh')
      controller.abort()
      throw new Error('killed')
    }
    const out = join(folder, 'out')
    const ended = await run(files, { values: { out, quiet: true }, transcribe, signal: controller.signal })
    expect(ended.error).toEqual(
      new Interrupted(
        ['a', 'b']
          .map(
            (name, at) => `interrupted in ${files[at]}; its text up to 0:01 is in ${out}/${name}.partial.txt`,
          )
          .join('\n'),
      ),
    )
    expect(ended.done).toBe(1)
    expect(readdirSync(out).sort()).toEqual(['a.partial.txt', 'b.partial.txt', 'c.txt'])
    expect(readFileSync(join(out, 'b.partial.txt'), 'utf8')).toBe('我们开始吧。OK。\n')
  },
)

test.skipIf(!clips)(
  `an interruption after a second attempt writes each text once, and no RTTM${skipped}`,
  async () => {
    const folder = temporaryFolder()
    const files = ['a.flac', 'b.flac'].map(name => put(folder, name))
    const controller = new AbortController()
    let calls = 0
    const transcribe: Transcribe = async (input, options) => {
      options.onUtterances?.((await answer(input, options)).utterances, 0, 'en')
      // At first, both files are transcribed together: this function is called once for each file, and both calls fail.
      // Then each file is transcribed alone: the third call is for the first file.
      if (++calls === 3) controller.abort()
      throw new Error('the engine process ended (SIGKILL)')
    }
    const out = join(folder, 'out')
    const values = { out, quiet: true, diarize: true, format: 'text,rttm' }
    const { error } = await run(files, { values, transcribe, signal: controller.signal })
    expect(error).toBeInstanceOf(Interrupted)
    const partial = ['a.partial.txt', 'b.partial.txt']
    expect(readdirSync(out).sort()).toEqual(partial)
    for (const name of partial) expect(readFileSync(join(out, name), 'utf8')).toBe('It rains.\n')
  },
)

const isRoot = process.getuid?.() === 0
test.skipIf(!clips || isRoot)(
  `an output folder that cannot be written is refused before any work${isRoot ? ' (SKIPPED: root may write everywhere)' : skipped}`,
  async () => {
    const folder = temporaryFolder()
    chmodSync(folder, 0o500)
    await expect(run([sound], { values: { out: join(folder, 'out') } })).rejects.toThrow('permission denied')
  },
)

test.skipIf(!clips)(`an output folder that is a file is refused before any work${skipped}`, async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'file'), '')
  let isAsked = false
  const transcribe: Transcribe = (input, options) => {
    isAsked = true
    return answer(input, options)
  }
  const refused = run([sound], { values: { out: join(folder, 'file/out') }, transcribe })
  await expect(refused).rejects.toThrow(
    `the output folder ${folder}/file/out cannot be written: a part of the path is a file`,
  )
  expect(isAsked).toBe(false)
})

test.skipIf(!clips)(`a full disk fails the file and not the run${skipped}`, async () => {
  const folder = temporaryFolder()
  put(folder, 'in', 'a', 'a.flac')
  put(folder, 'in', 'b.flac')
  const out = join(folder, 'out')
  // The test puts a file at the path of the folder for the first transcript. So this transcript cannot be written.
  const transcribe: Transcribe = (input, options) => {
    writeFileSync(join(out, 'a'), '')
    return answer(input, options)
  }
  const ended = await run([join(folder, 'in')], { values: { out, recursive: true }, transcribe })
  expect(ended).toMatchObject({ done: 1, failed: 1 })
  expect(readdirSync(out).sort()).toEqual(['a', 'b.txt'])
})
