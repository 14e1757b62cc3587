import { expect, spyOn, test } from 'bun:test'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { selfCommand } from '../../src/base/self.ts'
import { terminal } from '../../src/cli/terminal.ts'
import { openWatcher } from '../../src/cli/transcribe/watcher.ts'
import { compactPocket } from '../support/compact-pocket.ts'
import { clips, pocket, unless } from '../support/engine-room.ts'
import { temporaryFolder } from '../support/folder.ts'
import { steno } from '../support/program.ts'

test('a file is reported once when it is complete, and again after each change or absence; a missing folder is reported once', () => {
  const folder = temporaryFolder()
  const path = join(folder, 'a.mp3')
  const watcher = openWatcher(folder, { recursive: false })
  const ready = () => {
    const { added, changed } = watcher.look()
    return [...added.map(({ name }) => `+${name}`), ...changed.map(({ name }) => `*${name}`)]
  }
  writeFileSync(path, 'first')
  expect(ready()).toEqual([])
  writeFileSync(path, 'first and more')
  expect(ready()).toEqual([])
  expect(ready()).toEqual(['+a.mp3'])
  expect(ready()).toEqual([])
  utimesSync(path, 1, 1)
  expect(ready()).toEqual([])
  expect(ready()).toEqual(['*a.mp3'])
  // Another program may change a file's content and then set its time back. The file must still count as changed.
  writeFileSync(path, 'last')
  utimesSync(path, 1, 1)
  expect([ready(), ready()]).toEqual([[], ['*a.mp3']])
  writeFileSync(join(folder, 'empty.mp3'), '')
  expect([ready(), ready()]).toEqual([[], []])
  using err = spyOn(terminal, 'err').mockImplementation(() => {})
  for (const _ of ['first', 'second']) {
    renameSync(folder, `${folder}-gone`)
    expect([ready(), ready()]).toEqual([[], []])
    renameSync(`${folder}-gone`, folder)
    expect([ready(), ready(), ready()]).toEqual([[], ['+a.mp3'], []])
  }
  // A file of the same name that replaces a removed one is a change, also if it is older than the transcript.
  renameSync(path, join(folder, 'b.mp3'))
  expect(ready()).toEqual([])
  writeFileSync(path, 'another')
  utimesSync(path, 1, 1)
  expect([ready(), ready()]).toEqual([['+b.mp3'], ['*a.mp3']])
  const complaint = `steno: ${folder}: this folder is missing\n`
  expect(err.mock.calls).toEqual([[complaint], [complaint]])
})

test('a format that needs speakers is refused before anything is watched', async () => {
  const folder = temporaryFolder()
  const { code, err } = await steno(['watch', folder, '--out', folder, '--format', 'rttm'])
  expect(code).toBe(2)
  expect(err).toContain('rttm needs --diarize or --channels split')
})

const missing = !pocket || !clips
test.skipIf(missing)(
  `files that appear in a watched folder, or are newer than their output, are transcribed until Ctrl-C, and after nohup also when the terminal is closed${unless(pocket && clips, 'pocket model with its clips')}`,
  async () => {
    const folder = temporaryFolder()
    const [inbox, out] = [join(folder, 'in'), join(folder, 'out')]
    mkdirSync(inbox)
    writeFileSync(join(inbox, 'broken.mp3'), 'no sound in here')
    const add = (name: string) => copyFileSync(join(clips ?? '', 'doctor.flac'), join(inbox, name))
    mkdirSync(out)
    add('corrected.flac')
    writeFileSync(join(out, 'corrected.srt'), 'by hand')
    add('talk.flac')
    writeFileSync(join(out, 'talk.srt'), 'of an older recording')
    utimesSync(join(out, 'talk.srt'), 1, 1)
    const { PATH = '' } = process.env
    const command = selfCommand('watch', inbox, '--out', out, '--format', 'srt', '--overwrite')
    const child = Bun.spawn(['sh', '-c', `trap '' HUP; exec "$@"`, 'sh', ...command], {
      detached: true,
      cwd: folder,
      env: {
        PATH,
        HOME: folder,
        STENO_MODEL: await compactPocket(pocket ?? ''),
        STENO_ENV_FILE: join(folder, 'none'),
      },
      stdout: 'ignore',
      stderr: 'pipe',
    })
    let told = ''
    try {
      for await (const chunk of child.stderr) {
        told += new TextDecoder().decode(chunk)
        if (told.includes('talk.srt') && !existsSync(join(inbox, 'later.flac'))) {
          // When a terminal is closed, the kernel sends SIGHUP to all processes of the foreground process group.
          process.kill(-child.pid, 'SIGHUP')
          add('later.flac')
        }
        if (told.includes('later.flac:')) break
      }
    } finally {
      child.kill('SIGINT')
    }
    expect(await child.exited).toBe(0)
    expect(told).toContain('broken.mp3: The file is not audio or video that can be read.')
    expect(readdirSync(out).sort()).toEqual(['corrected.srt', 'later.srt', 'talk.srt'])
    expect(readFileSync(join(out, 'corrected.srt'), 'utf8')).toBe('by hand')
    expect(readFileSync(join(out, 'talk.srt'), 'utf8')).toMatch(/^1\n00:00:0/)
  },
  60_000,
)

test('a file from before 1970 is taken too', async () => {
  const folder = temporaryFolder()
  const inbox = join(folder, 'in')
  mkdirSync(inbox)
  for (const name of ['a.mp3', 'b.mp3']) writeFileSync(join(inbox, name), 'no sound in here')
  const { PATH = '' } = process.env
  const hourBefore = new Date(-3_600_000)
  utimesSync(join(inbox, 'a.mp3'), hourBefore, hourBefore)
  const child = Bun.spawn(selfCommand('watch', inbox, '--out', join(folder, 'out')), {
    cwd: folder,
    env: { PATH, HOME: folder, STENO_ENV_FILE: join(folder, 'none') },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  let told = ''
  try {
    for await (const chunk of child.stderr) {
      told += new TextDecoder().decode(chunk)
      if (told.includes('b.mp3: The file is not')) break
    }
  } finally {
    child.kill('SIGINT')
  }
  expect(await child.exited).toBe(0)
  expect(told).toContain('a.mp3: The file is not')
})

test('a folder that is missing, or no output folder, is wrong usage', () => {
  const run = (...args: string[]) => Bun.spawnSync(selfCommand('watch', ...args))
  expect(run(join(temporaryFolder(), 'missing'), '--out', 'x').exitCode).toBe(2)
  expect(run('.').exitCode).toBe(2)
  expect(run('.', '--out', '').exitCode).toBe(2)
  expect(run('.', '--out', '-').exitCode).toBe(2)
  expect(run('.', '--out', 'talk.srt').exitCode).toBe(2)
})
