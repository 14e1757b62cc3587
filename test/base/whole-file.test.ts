import { expect, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { draftPath, isDraft, removeOldDrafts } from '../../src/base/draft-names.ts'
import { lockFile } from '../../src/base/file-lock.ts'
import { Draft, linkOrCopy, replaceFolder } from '../../src/base/whole-file.ts'
import { limits } from '../../src/limits.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openFilesIn } from '../support/open-files.ts'

const scratch = temporaryFolder()

const module = JSON.stringify(join(import.meta.dir, '../../src/base/whole-file.ts'))

function folder(name: string): string {
  mkdirSync(join(scratch, name))
  return join(scratch, name)
}

/** Runs the code `script` in a child process. The code can use `Draft`, `path`, and some functions of node:fs. */
function start(path: string, script: string) {
  const whole = `
    import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
    import { Draft } from ${module}
    const path = ${JSON.stringify(path)}
    ${script}`
  return Bun.spawn([process.execPath, '-e', whole], { stdout: 'pipe', stderr: 'inherit' })
}

function fill(draft: Draft, text: string): void {
  mkdirSync(join(draft.path, 'deep'), { recursive: true })
  writeFileSync(join(draft.path, 'deep', text), text)
}

test('a file has its name only when it is complete', () => {
  const home = folder('file')
  const path = join(home, 'a')
  {
    using draft = new Draft(path)
    writeFileSync(draft.path, 'whole')
    expect([existsSync(path), isDraft(basename(draft.path))]).toEqual([false, true])
    draft.replace()
  }
  expect([readdirSync(home), readFileSync(path, 'utf8')]).toEqual([['a'], 'whole'])
})

test('a draft that was not put in place is removed and closed, and the old file remains', async () => {
  const home = folder('failed')
  const path = join(home, 'a')
  writeFileSync(path, 'old')
  expect(() => {
    using draft = new Draft(path)
    writeFileSync(draft.path, 'half')
    throw new Error('no more')
  }).toThrow('no more')
  expect([readdirSync(home), readFileSync(path, 'utf8')]).toEqual([['a'], 'old'])
  while (openFilesIn(home).length > 0) await new Promise(resolve => setImmediate(resolve))
})

test('the removal of a placed draft keeps the locks of SQLite on its target', async () => {
  const path = join(folder('locked'), 'a')
  {
    using draft = new Draft(path)
    writeFileSync(draft.path, '')
    draft.place()
    expect(lockFile(path)).not.toBeNull()
  }
  while (openFilesIn(`${path}.`).length > 0) await new Promise(resolve => setImmediate(resolve))
  const locks = JSON.stringify(join(import.meta.dir, '../../src/base/file-lock.ts'))
  const other = `import { lockFile } from ${locks}; console.log(lockFile(${JSON.stringify(path)}))`
  expect(Bun.spawnSync([process.execPath, '-e', other]).stdout.toString()).toBe('null\n')
})

test('a draft of a folder that was not put in place is removed', () => {
  const home = folder('failed-folder')
  {
    using draft = new Draft(join(home, 'a'))
    fill(draft, 'half')
  }
  expect(readdirSync(home)).toEqual([])
})

test('place never overwrites a file, and returns false', () => {
  const home = folder('place')
  const path = join(home, 'a')
  const results = ['first', 'second'].map(text => {
    using draft = new Draft(path)
    writeFileSync(draft.path, text)
    return draft.place()
  })
  expect([results, readdirSync(home), readFileSync(path, 'utf8')]).toEqual([[true, false], ['a'], 'first'])
})

const strace = Bun.which('strace')
const unlessTraced = strace === null ? ' (SKIPPED: there is no strace here)' : ''

/** The errors of `link` on a file system without hard links, and for a file with too many hard links. */
type LinkError = 'EPERM' | 'EOPNOTSUPP' | 'EMLINK' | 'ENOSYS'

/**
 * Runs the code `script` in a child process under strace. Each system call that makes a hard link fails with `error`.
 * `faults` are further failing calls, in the format of strace's option `inject`. Returns the output.
 */
function runWithoutLinks(error: LinkError, script: string, ...faults: string[]) {
  const injected = [`?link,linkat:error=${error}`, ...faults].flatMap(fault => ['-e', `inject=${fault}`])
  const traced = [strace ?? '', '-f', '-o', '/dev/null', ...injected]
  return `${Bun.spawnSync([...traced, process.execPath, '-e', script]).stdout}`
}

/**
 * Writes two drafts (files with temporary names), one after the other, and calls `place` for each of them. Both have
 * the same target in `home`, on a file system without hard links. Returns the results of `place` as text.
 */
function placeWithoutLinks(error: LinkError, home: string, ...faults: string[]) {
  const script = `
    import { writeFileSync } from 'node:fs'
    import { Draft } from ${module}
    for (const text of ['first', 'second']) {
      using draft = new Draft(${JSON.stringify(join(home, 'a'))})
      writeFileSync(draft.path, text, { mode: 0o600 })
      console.log(draft.place())
    }`
  return runWithoutLinks(error, script, ...faults)
}

test.skipIf(strace === null)(`place needs no hard links, and overwrites no file${unlessTraced}`, () => {
  const home = folder('without-links')
  expect(placeWithoutLinks('EPERM', home)).toBe('true\nfalse\n')
  expect([readdirSync(home), readFileSync(join(home, 'a'), 'utf8')]).toEqual([['a'], 'first'])
  expect(statSync(join(home, 'a')).mode & 0o777).toBe(0o600)
})

test.skipIf(strace === null)(
  `place without hard links needs no room for a second copy${unlessTraced}`,
  () => {
    const home = folder('full-disk')
    const full = '?copy_file_range,?sendfile,?fallocate,?ioctl,?pwrite64:error=ENOSPC'
    expect(placeWithoutLinks('EOPNOTSUPP', home, full)).toBe('true\nfalse\n')
    expect(readFileSync(join(home, 'a'), 'utf8')).toBe('first')
  },
)

test.skipIf(strace === null)(`place that fails without hard links leaves no file${unlessTraced}`, () => {
  const home = folder('failed-rename')
  expect(placeWithoutLinks('EMLINK', home, '?rename,?renameat,?renameat2:error=EIO')).toBe('')
  expect(readdirSync(home)).toEqual([])
})

test.skipIf(strace === null)(`linkOrCopy copies where there are no hard links${unlessTraced}`, () => {
  const from = join(folder('copied'), 'a')
  writeFileSync(from, 'program', { mode: 0o755 })
  const [linked, copied] = [`${from}-linked`, `${from}-copied`]
  linkOrCopy(from, linked)
  runWithoutLinks(
    'ENOSYS',
    `import { linkOrCopy } from ${module}; linkOrCopy(...${JSON.stringify([from, copied])})`,
  )
  expect(statSync(linked).ino).toBe(statSync(from).ino)
  expect(statSync(copied).ino).not.toBe(statSync(from).ino)
  expect([readFileSync(copied, 'utf8'), statSync(copied).mode & 0o777]).toEqual(['program', 0o755])
})

test('linkOrCopy overwrites no file', () => {
  const home = folder('not-copied')
  const [from, to] = [join(home, 'a'), join(home, 'b')]
  for (const path of [from, to]) writeFileSync(path, path)
  expect(() => linkOrCopy(from, to)).toThrow('EEXIST')
  expect(readFileSync(to, 'utf8')).toBe(to)
})

/**
 * Runs the code `script` under strace. Returns its system calls that flush, link or rename a file or folder. The paths
 * are relative to `home`, and lack the UUID in the name of a draft (a file or folder that is still being written). The
 * fourth rename fails with ENOTEMPTY, as if another process had just created a folder with files at the target.
 */
function flushesAndMoves(home: string, script: string): string[] {
  const trace = join(home, 'trace')
  const renames = '?rename,?renameat,?renameat2'
  const traced = ['-e', `trace=fsync,?link,?linkat,${renames}`, '-o', trace]
  const failing = ['-e', `inject=${renames}:error=ENOTEMPTY:when=4`]
  Bun.spawnSync([strace ?? '', '-f', '-y', '-qq', ...traced, ...failing, process.execPath, '-e', script])
  return readFileSync(trace, 'utf8')
    .split('\n')
    .filter(line => line.includes(home))
    .map(line => {
      const [call] = /[a-z]+/.exec(line) ?? []
      const paths = line.matchAll(new RegExp(`["<]${home}([^">]*)[">]`, 'g'))
      const names = [...paths].map(([, name = '']) => name.replace(/\.[-0-9a-f]{36}/, ''))
      return [call, ...names].join(' ')
    })
}

test.skipIf(strace === null)(
  `a draft is flushed before it gets its final name, and a folder that another process creates meanwhile is replaced${unlessTraced}`,
  () => {
    const home = folder('flushed')
    const script = `
      import { mkdirSync, writeFileSync } from 'node:fs'
      import { Draft } from ${module}
      for (const [name, move] of [['a', 'place'], ['a', 'replace'], ['b', 'place'], ['b', 'replace']]) {
        using draft = new Draft(${JSON.stringify(home)} + '/' + name)
        if (name === 'b') mkdirSync(draft.path)
        writeFileSync(name === 'b' ? draft.path + '/c' : draft.path, '')
        draft[move]()
      }`
    expect(flushesAndMoves(home, script)).toEqual([
      ...['fsync /a.part', 'link /a.part /a', 'fsync '],
      ...['fsync /a.part', 'rename /a.part /a', 'fsync '],
      ...['fsync /b.part/c', 'fsync /b.part', 'rename /b.part /b', 'fsync '],
      ...['fsync /b.part/c', 'fsync /b.part', 'rename /b /b.part', 'rename /b.part /b'],
      ...['rename /b /b.part', 'rename /b.part /b', 'fsync '],
    ])
  },
)

test('place never overwrites a folder, and returns false', () => {
  const home = folder('place-folder')
  const results = ['first', 'second'].map(text => {
    using draft = new Draft(join(home, 'a'))
    fill(draft, text)
    return draft.place()
  })
  expect([results, readdirSync(home), readdirSync(join(home, 'a/deep'))]).toEqual([
    [true, false],
    ['a'],
    ['first'],
  ])
})

test('place of a folder throws if the target is a file, and the file remains', () => {
  const home = folder('place-over-file')
  const path = join(home, 'a')
  writeFileSync(path, 'old')
  expect(() => {
    using draft = new Draft(path)
    fill(draft, 'new')
    draft.place()
  }).toThrow('ENOTDIR')
  expect([readdirSync(home), readFileSync(path, 'utf8')]).toEqual([['a'], 'old'])
})

test('replace overwrites a file or a folder, whatever its content', () => {
  const home = folder('replace')
  for (const text of ['first', 'second']) {
    using file = new Draft(join(home, 'file'))
    writeFileSync(file.path, text)
    file.replace()
    using tree = new Draft(join(home, 'tree'))
    fill(tree, text)
    tree.replace()
  }
  expect(readdirSync(home).toSorted()).toEqual(['file', 'tree'])
  expect(readFileSync(join(home, 'file'), 'utf8')).toBe('second')
  expect(readdirSync(join(home, 'tree/deep'))).toEqual(['second'])
  expect(openFilesIn(home)).toEqual([])
})

test('a replacement that is missing is an error', () => {
  const home = folder('nothing')
  expect(() => replaceFolder(join(home, 'a'), join(home, 'b'))).toThrow('ENOENT')
})

test('a folder whose replacement is missing stays', () => {
  const home = folder('kept')
  const path = join(home, 'a')
  mkdirSync(join(path, 'deep'), { recursive: true })
  expect(() => replaceFolder(join(home, 'b'), path)).toThrow('ENOENT')
  expect([readdirSync(home), readdirSync(path)]).toEqual([['a'], ['deep']])
})

test.skipIf(strace === null)(
  `a folder that can neither be replaced nor put back is not removed, and the error names its path${unlessTraced}`,
  () => {
    const home = folder('not-put-back')
    const path = join(home, 'a')
    for (const each of [path, `${path}-new`]) mkdirSync(join(each, 'deep'), { recursive: true })
    const script = `
      import { replaceFolder } from ${module}
      try {
        replaceFolder(...${JSON.stringify([`${path}-new`, path])})
      } catch (error) {
        console.log(error.message)
      }`
    const said = runWithoutLinks('EPERM', script, '?rename,?renameat,?renameat2:error=EIO:when=2+')
    const [moved = '', ...others] = readdirSync(home).filter(isDraft)
    expect([others, readdirSync(join(home, moved))]).toEqual([[], ['deep']])
    expect(said).toContain(join(home, moved))
  },
)

test('a process that is killed while it writes leaves a draft, and no file under the name', async () => {
  const home = folder('killed')
  const child = start(
    join(home, 'a'),
    `using draft = new Draft(path)
     writeFileSync(draft.path, 'half')
     process.kill(process.pid, 'SIGKILL')`,
  )
  await child.exited
  expect(readdirSync(home).map(isDraft)).toEqual([true])
})

const size = 200_000

test('readers of a file that four processes replace always see the complete file of one process', async () => {
  const home = folder('race')
  const path = join(home, 'a')
  writeFileSync(path, 'x'.repeat(size))
  const writers = [1, 2, 3, 4].map(id =>
    start(
      path,
      `for (let round = 0; round < 20; round++) {
         using draft = new Draft(path)
         writeFileSync(draft.path, '${id}'.repeat(${size}))
         draft.replace()
         const seen = readFileSync(path, 'utf8')
         if (seen !== seen[0].repeat(${size})) throw new Error('half a file')
       }`,
    ),
  )
  expect(await Promise.all(writers.map(each => each.exited))).toEqual([0, 0, 0, 0])
  expect(readdirSync(home)).toEqual(['a'])
})

test('four processes can replace one folder at once', async () => {
  const home = folder('race-folder')
  const path = join(home, 'a')
  const writers = [1, 2, 3, 4].map(id =>
    start(
      path,
      `for (let round = 0; round < 20; round++) {
         using draft = new Draft(path)
         mkdirSync(draft.path)
         for (const name of ['one', 'two']) writeFileSync(draft.path + '/' + name, '${id}')
         draft.replace()
       }`,
    ),
  )
  expect(await Promise.all(writers.map(each => each.exited))).toEqual([0, 0, 0, 0])
  expect(readdirSync(home)).toEqual(['a'])
  const [one, two] = ['one', 'two'].map(name => readFileSync(join(path, name), 'utf8'))
  expect(one).toBe(two!)
})

test('when four processes place the same file, exactly one succeeds', async () => {
  const path = join(folder('race-place'), 'a')
  const writers = [1, 2, 3, 4].map(id =>
    start(
      path,
      `using draft = new Draft(path)
       writeFileSync(draft.path, '${id}')
       console.log(draft.place() ? '${id}' : '')`,
    ),
  )
  const said = await Promise.all(writers.map(each => new Response(each.stdout).text()))
  expect(said.join('').trim()).toBe(readFileSync(path, 'utf8'))
})

test('old drafts are removed; recent drafts and files with other names remain', () => {
  const home = folder('old')
  const then = new Date(Date.now() - limits.draftKeptMs - 1000)
  const [young, old] = [draftPath(join(home, 'a')), draftPath(join(home, 'a'))]
  for (const path of [young, old, join(home, 'a'), join(home, 'a.part')]) mkdirSync(path)
  for (const path of [old, join(home, 'a'), join(home, 'a.part')]) utimesSync(path, then, then)
  removeOldDrafts(home)
  expect(readdirSync(home).toSorted()).toEqual(['a', 'a.part', basename(young)].toSorted())
})
