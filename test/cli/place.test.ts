// Tests which folders the commands use, and what the commands print.

import { expect, test } from 'bun:test'
import { chmodSync, chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSecrets } from '../../src/base/seal.ts'
import { selfCommand } from '../../src/base/self.ts'
import { makeService } from '../support/command.ts'
import { temporaryFolder } from '../support/folder.ts'
import { byRoot, otherUser } from '../support/other-owner.ts'

const { PATH = '' } = process.env
const home = temporaryFolder()
const module = (path: string) => JSON.stringify(join(import.meta.dir, '../../src', path))

function steno(cwd: string, args: string[], more: Record<string, string> = {}) {
  const env = { PATH, HOME: home, STENO_ENV_FILE: join(cwd, 'no.env'), ...more }
  const { exitCode, stdout, stderr } = Bun.spawnSync(selfCommand(...args), { cwd, env })
  return { code: exitCode, out: `${stdout}`, err: `${stderr}` }
}

test('a command on accounts refuses a folder without a database, names it and creates nothing', () => {
  const folder = temporaryFolder()
  const missing = steno(folder, ['accounts', 'list'])
  expect(missing).toEqual({
    code: 1,
    out: '',
    err: `steno: the data folder ${folder}/steno-data is not there: --data-dir or STENO_DATA_DIR names another, steno serve makes one\n`,
  })
  mkdirSync(join(folder, 'empty'))
  const empty = steno(folder, ['keys', 'list', 'a@example.org', '--data-dir', 'empty'])
  expect([empty.code, empty.err]).toEqual([1, expect.stringContaining(`${folder}/empty has no steno.db`)])
  expect(readdirSync(folder)).toEqual(['empty'])
})

test('a command on accounts finds the data folder by its flag, the environment, or the installed service', () => {
  const folder = temporaryFolder()
  const [mine, installed] = [makeService(join(folder, 'mine')), makeService(join(folder, 'installed'))]
  const installedEnv = join(folder, 'steno.env')
  Bun.spawnSync(['sh', '-c', `printf '# settings\nSTENO_DATA_DIR=%s\n' '${installed}' >'${installedEnv}'`])
  const env = { STENO_ENV_FILE: installedEnv }

  expect(steno(folder, ['accounts', 'create', 'a@example.org', '--data-dir', mine], env).code).toBe(0)
  expect(steno(folder, ['accounts', 'list'], { ...env, STENO_DATA_DIR: mine }).out).toContain('a@example.org')
  expect(steno(folder, ['accounts', 'list'], env)).toEqual({ code: 0, out: '', err: '' })
  expect(steno(folder, ['accounts', 'create', 'b@example.org'], env).code).toBe(0)
  expect(steno(folder, ['accounts', 'list', '--data-dir', installed]).out).toContain('b@example.org')
  expect(readdirSync(folder).sort()).toEqual(['installed', 'mine', 'steno.env'])
})

const mayMount =
  Bun.which('unshare') !== null &&
  Bun.spawnSync(['unshare', '--mount', 'mount', '--bind', '/', '/mnt']).exitCode === 0

test.skipIf(!mayMount)(
  `a command says that the data folder is read-only, and what to do${mayMount ? '' : ' (SKIPPED: this user may not mount)'}`,
  () => {
    const folder = temporaryFolder()
    const data = makeService(join(folder, 'data'))
    const script = `mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && shift && ${selfCommand().join(' ')} "$@"`
    const run = (...args: string[]) => {
      const env = { PATH, HOME: home, STENO_DATA_DIR: data }
      const { exitCode, stderr } = Bun.spawnSync(
        ['unshare', '--mount', 'bash', '-c', script, data, '-', ...args],
        {
          env,
        },
      )
      return [exitCode, `${stderr}`]
    }
    const refusal = `steno: ${data}/steno.db is on a read-only file system: make it writable, or copy steno.db, each steno.db-* and secret.key into another folder, and name this folder with --data-dir\n`
    expect(run('accounts', 'list')).toEqual([1, refusal])
    expect(run('backup', join(folder, 'backup.db'))).toEqual([1, refusal])
    const serveRefusal = `steno: the data folder cannot be used: EROFS: read-only file system, chmod '${data}'; STENO_DATA_DIR names another, and steno install then allows the service to write there\n`
    expect(run('serve')).toEqual([1, serveRefusal])
    const pullRefusal = `steno: the folder of models ${data}/models cannot be written: the file system is read-only; STENO_MODELS_DIR names another\n`
    expect(run('models', 'pull', 'tiny')).toEqual([1, pullRefusal])
    mkdirSync(join(data, 'models'))
    expect(run('models', 'pull', 'tiny')).toEqual([1, pullRefusal])
    expect(readdirSync(folder)).toEqual(['data'])
  },
)

test.skipIf(!mayMount)(
  `a backup or a restore for which the disk has no room names the path, and leaves no file${mayMount ? '' : ' (SKIPPED: this user may not mount)'}`,
  () => {
    const folder = temporaryFolder()
    const data = makeService(join(folder, 'data'))
    openSecrets(data)
    const small = join(folder, 'small')
    mkdirSync(small)
    const run = (...args: string[]) => selfCommand(...args).join(' ')
    const backup = join(folder, 'backup.db')
    const script = `mount -t tmpfs -o size=64k tmpfs ${small} &&
      ${run('backup', backup, '--data-dir', data)} >/dev/null
      ${run('backup', join(small, 'backup.db'), '--data-dir', data)}
      ${run('restore', backup, '--data-dir', join(small, 'data'))}
      find ${small} -type f`
    const { stdout, stderr } = Bun.spawnSync(['unshare', '--mount', 'sh', '-c', script])
    expect([`${stdout}`, `${stderr}`.split('\n')]).toEqual([
      '',
      [
        `steno: ${small}/backup.db cannot be written: the disk is full`,
        `steno: the data folder ${small}/data cannot be written: the disk is full; --data-dir names another`,
        '',
      ],
    ])
  },
)

byRoot('a command of a user who may not use the data folder names the file and the users who may', () => {
  const script = `
    const { dataConfig } = await import(${module('cli/settings.ts')})
    process.setgid(${otherUser})
    process.setuid(${otherUser})
    try { dataConfig({ 'data-dir': process.argv.at(-1) }) } catch (error) { console.log(error.message) }`
  const refusalOf = (data: string) =>
    `${Bun.spawnSync([process.execPath, '-e', script, data], { env: { PATH } }).stdout}`
  const words = (path: string) =>
    `this user may not read and write ${path}: run the command as the user of the service, or as root\n`
  const data = makeService(temporaryFolder())
  expect(refusalOf(data)).toBe(words(join(data, 'steno.db')))
  for (const path of [data, join(data, 'steno.db')]) chownSync(path, otherUser, otherUser)
  expect(refusalOf(data)).toBe('')
  // The secret must be readable for the user `otherUser`. It need not be writable: it may be a read-only file or a
  // mount of a container. At first, only root may read this file, so the command is refused.
  const secret = join(data, 'secret.key')
  writeFileSync(secret, '', { mode: 0o400 })
  expect(refusalOf(data)).toBe(words(secret))
  chownSync(secret, otherUser, otherUser)
  expect(refusalOf(data)).toBe('')
  writeFileSync(join(data, 'steno.db-wal'), '', { mode: 0o644 })
  expect(refusalOf(data)).toBe(words(join(data, 'steno.db-wal')))
})

byRoot('a default data folder of another user stops only the commands that need its database', () => {
  const cwd = temporaryFolder()
  const data = makeService(join(cwd, 'steno-data'))
  chmodSync(cwd, 0o755)
  const script = `
    const { dataConfig, findDataDir, localConfig } = await import(${module('cli/settings.ts')})
    process.setgid(${otherUser})
    process.setuid(${otherUser})
    try { dataConfig() } catch (error) { console.log(error.message) }
    console.log(findDataDir({}))
    console.log(localConfig().modelsDir)
    console.log(localConfig({ 'data-dir': 'steno-data' }).modelsDir)`
  const env = { PATH, STENO_CACHE_DIR: '/cache', STENO_ENV_FILE: '/no.env' }
  const { stdout } = Bun.spawnSync([process.execPath, '-e', script], { cwd, env })
  expect(`${stdout}`.trim().split('\n')).toEqual([
    `this user may not read and write ${data}/steno.db: run the command as the user of the service, or as root`,
    data,
    '/cache/models',
    // With the option --data-dir, the models are expected in this data folder, so there is no other models folder.
    'null',
  ])
})

test('models are in the data folder, or in the cache of the user if they came before the data folder', () => {
  const folder = temporaryFolder()
  const remove = (more: Record<string, string> = {}) => steno(folder, ['models', 'remove', 'tiny'], more)
  const model = (place: string) => void mkdirSync(join(folder, place, 'tiny'), { recursive: true })

  expect(remove().err).toBe('steno: there is no model tiny here\n')
  expect(readdirSync(folder)).toEqual([])
  mkdirSync(join(home, '.cache/steno/models/tiny'), { recursive: true })
  expect(remove().out).toBe('tiny removed\n')
  model('xdg/steno/models')
  expect(remove({ XDG_CACHE_HOME: join(folder, 'xdg') }).out).toBe('tiny removed\n')
  model('own/models')
  expect(remove({ STENO_CACHE_DIR: join(folder, 'own') }).out).toBe('tiny removed\n')
  makeService(join(folder, 'steno-data'))
  mkdirSync(join(home, '.cache/steno/models/tiny'), { recursive: true })
  expect(remove().out).toBe('tiny removed\n')
  model('steno-data/models')
  expect(remove().out).toBe('tiny removed\n')
})

test('a user without a home folder needs no cache folder if there is a data folder', () => {
  const folder = temporaryFolder()
  const listModels = (...args: string[]) => {
    // Without HOME, `homedir` throws for a user who is not in /etc/passwd. The script replaces `homedir` to simulate
    // this.
    const script = `
      require('node:os').homedir = () => { throw new Error('no home') }
      process.argv = ['steno', 'main.ts', 'models', 'list', ...${JSON.stringify(args)}]
      await import(${module('main.ts')})
      if (process.exitCode === 1) process.exit()
      const { nativeEnvironment } = await import(${module('base/carried.ts')})
      const { cudaFolder } = await import(${module('engine/onnx/library.ts')})
      console.log(JSON.stringify([cudaFolder(), nativeEnvironment()]))`
    const env = { PATH, STENO_ENV_FILE: join(folder, 'no.env') }
    const { stdout, stderr } = Bun.spawnSync([process.execPath, '-e', script], { cwd: folder, env })
    return { out: `${stdout}`, err: `${stderr}` }
  }
  const { out, err } = listModels('--data-dir', folder)
  expect(err).toBe('')
  const native = join(folder, 'native')
  expect(JSON.parse(out.split('\n').at(-2) ?? '')).toEqual([
    expect.stringContaining(`${native}/cuda-`),
    { STENO_NATIVE_DIR: native },
  ])
  expect(listModels().err).toBe(
    'steno: this user has no home folder for a cache: STENO_DATA_DIR or STENO_CACHE_DIR names a folder\n',
  )
})

test.each(['openapi', 'models list', 'help'])(
  'a full disk behind stdout is an error of one line: %s',
  words => {
    const command = `${selfCommand(...words.split(' ')).join(' ')} > /dev/full`
    const { exitCode, stderr } = Bun.spawnSync(['sh', '-c', command])
    expect([exitCode, `${stderr}`]).toEqual([
      1,
      'steno: standard output cannot be written: the disk is full\n',
    ])
  },
)

test('a closed pipe behind stdout is an error of one line', () => {
  // The process `true` at the other end of the pipe exits at once, before the command writes.
  const script = `{ sleep 0.3; ${selfCommand('openapi').join(' ')}; echo "code $?" >&2; } | exec true`
  const { stderr } = Bun.spawnSync(['bash', '-c', script])
  expect(`${stderr}`).toBe('steno: standard output was closed before everything was written\ncode 1\n')
})

test('a closed stdout is an error of one line, before a recording is transcribed; /dev/null is not closed', () => {
  const run = (words: string, output: string) => {
    const { exitCode, stderr } = Bun.spawnSync([
      'bash',
      '-c',
      `${selfCommand(...words.split(' ')).join(' ')} ${output}`,
    ])
    return [exitCode, `${stderr}`]
  }
  const closed = [1, 'steno: standard output is closed\n']
  expect(run('version', '>&-')).toEqual(closed)
  expect(run('version', '<&- >&-')).toEqual(closed)
  expect(run(`transcribe ${import.meta.path} --quiet`, '>&-')).toEqual(closed)
  expect(run('version', '>/dev/null')).toEqual([0, ''])
  expect(run('version', '<>/dev/null >&0')).toEqual([0, ''])
})

test('a reader that ends after a part of the output ends the command without a message, as SIGPIPE ends other programs', () => {
  const script = `{ ${selfCommand('openapi').join(' ')}; echo "code $?" >&2; } | head -c 1`
  const { stdout, stderr } = Bun.spawnSync(['bash', '-c', script])
  expect([`${stdout}`, `${stderr}`]).toEqual(['{', 'code 141\n'])
})

test('the completion of bash offers commands, options and values', () => {
  const folder = temporaryFolder()
  const { out } = steno(folder, ['completion', 'bash'])
  const offered = (...words: string[]) => {
    const script = `${out}\nCOMP_WORDS=(${words.map(word => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _steno; echo "\${COMPREPLY[*]}"`
    const { exitCode, stdout, stderr } = Bun.spawnSync(['bash', '-c', script])
    expect([exitCode, `${stderr}`]).toEqual([0, ''])
    return `${stdout}`.trim().split(' ')
  }
  expect(offered('steno', 'tr')).toEqual(['transcribe'])
  expect(offered('steno', 'accounts', 'c').sort()).toEqual(['create', 'credit'])
  expect(offered('steno', 'accounts', 'create', '--cr')).toEqual(['--credit'])
  expect(offered('steno', 'backup', '--da')).toEqual(['--data-dir'])
  expect(offered('steno', 'jobs', 'list', '--state', 'cr')).toEqual(['created'])
  expect(offered('steno', 'completion', '')).toEqual(['bash', 'zsh', 'fish'])
  expect(offered('steno', 'runtime', 'pull', '')).toEqual(['cuda'])
  for (const verb of ['pull', 'verify', 'remove']) {
    expect(offered('steno', 'models', verb, 'ti')).toEqual(['tiny'])
    expect(offered('steno', 'models', verb, 'base')).toEqual([''])
  }
  expect(offered('steno', 'models', 'pull', 'tiny', '')).toEqual([''])
  expect(offered('steno', 'hel')).toEqual(['help'])
  expect(offered('steno', 'help')).toEqual(['help'])
  expect(offered('steno', 'help', 'acc')).toEqual(['accounts'])
  expect(offered('steno', 'help', 'accounts', 'cred')).toEqual(['credit'])
  expect(offered('steno', 'help', 'accounts', 'credit', '')).toEqual([''])
})

test('the completion of every shell names every command; an unknown shell is a usage error', () => {
  const folder = temporaryFolder()
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, out } = steno(folder, ['completion', shell])
    expect([shell, code]).toEqual([shell, 0])
    for (const word of ['transcribe', 'revoke', 'doctor', 'data-dir']) expect(out).toContain(word)
  }
  expect(steno(folder, ['completion', 'tcsh']).code).toBe(2)
})

const groff = Bun.which('groff')
test.skipIf(groff === null)(
  `the manual page has no warnings and names every option${groff ? '' : ' (SKIPPED: there is no groff here)'}`,
  () => {
    const page = steno(temporaryFolder(), ['man']).out
    const { stdout, stderr } = Bun.spawnSync([groff!, '-man', '-Tutf8', '-P-cbou', '-ww'], {
      stdin: new TextEncoder().encode(page),
    })
    expect(`${stderr}`).toBe('')
    for (const word of ['accounts create', '--data-dir', 'EXIT STATUS']) expect(`${stdout}`).toContain(word)
  },
)
