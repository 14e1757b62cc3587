import { expect, test } from 'bun:test'
import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { putSettings, requireUsable } from '../../src/cli/install.ts'
import { installedSettings, pathsIn, settingsIn } from '../../src/cli/installed.ts'
import { serviceConfig } from '../../src/cli/settings.ts'
import { requireSystemd, unitText } from '../../src/cli/unit.ts'
import { findCommand } from '../support/command.ts'
import { inEnvironment } from '../support/environment.ts'
import { temporaryFolder } from '../support/folder.ts'

const folder = temporaryFolder()

test('a dry run prints the unit and does nothing', async () => {
  const { code, out } = await findCommand(folder, 'install', '--dry-run', '--data-dir', '/srv/words')
  expect(code).toBe(0)
  for (const line of [
    'User=steno',
    'ProtectSystem=strict',
    'ReadWritePaths=/srv/words',
    'WorkingDirectory=/srv/words',
    'NoNewPrivileges=yes',
    'Type=notify',
    'ProtectProc=invisible',
    'SystemCallErrorNumber=EPERM',
    'RestartPreventExitStatus=2 78',
  ]) {
    expect(out.split('\n')).toContain(line)
  }
})

test('a checkout is not installed, and a folder that systemd would misread is refused', async () => {
  const checkout = await findCommand(folder, 'install', '--root', folder)
  expect([checkout.code, checkout.err]).toEqual([1, expect.stringContaining('make build')])
  const odd = await findCommand(folder, 'install', '--dry-run', '--data-dir', '/srv/a b')
  expect([odd.code, odd.out]).toEqual([1, ''])
})

test('a machine on which systemd does not run is refused', () => {
  expect(() => requireSystemd(join(folder, 'none'))).toThrow('systemd does not run on this machine')
  requireSystemd(folder)
})

test('a data folder in the settings file that is not absolute, or empty, is refused', async () => {
  const image = temporaryFolder()
  const settings = join(image, 'etc/steno.env')
  for (const [value, problem] of [
    ['./data', 'names the data folder ./data: use an absolute path'],
    ['', 'has STENO_DATA_DIR without a value: name the folder there'],
  ]) {
    await Bun.write(settings, `STENO_DATA_DIR=${value}\n`)
    const { code, err } = await findCommand(folder, 'install', '--dry-run', '--root', image)
    expect([code, err]).toEqual([1, `steno: ${settings} ${problem}\n`])
  }
})

test('the settings file gets the data folder if it names none, so that the commands find it', () => {
  const file = join(temporaryFolder(), 'etc/steno.env')
  putSettings(file, '/srv/words')
  expect([settingsIn(file), statSync(file).mode & 0o777]).toEqual([{ STENO_DATA_DIR: '/srv/words' }, 0o600])
  for (const [before, after] of [
    ['STENO_PORT=9090', 'STENO_PORT=9090\nSTENO_DATA_DIR=/srv/words\n'],
    ['STENO_DATA_DIR=/srv/other\n', 'STENO_DATA_DIR=/srv/other\n'],
  ] as const) {
    writeFileSync(file, before)
    putSettings(file, '/srv/words')
    expect(readFileSync(file, 'utf8')).toBe(after)
  }
  const open = 'STENO_SMTP_URL="smtp://mail.example'
  writeFileSync(file, open)
  expect(() => putSettings(file, '/srv/words')).toThrow(`the last value in ${file} has no end`)
  expect(readFileSync(file, 'utf8')).toBe(open)
})

test('a settings file that cannot be written is named with the reason', () => {
  const blocked = join(temporaryFolder(), 'etc')
  writeFileSync(blocked, '')
  const file = join(blocked, 'steno/steno.env')
  expect(() => putSettings(file, '/srv')).toThrow(`${file} cannot be written: a part of the path is a file`)
})

test('the data folder in the settings file is used, and no other one is accepted', async () => {
  const image = temporaryFolder()
  const settings = join(image, 'etc/steno.env')
  const install = (...options: string[]) =>
    findCommand(folder, 'install', '--dry-run', '--root', image, ...options)
  expect((await install()).out).toContain('\nReadWritePaths=/var/lib/steno\n')
  await Bun.write(settings, 'STENO_DATA_DIR=/srv/words\n')
  for (const options of [[], ['--data-dir', '/srv/words/']])
    expect((await install(...options)).out).toContain('\nReadWritePaths=/srv/words\n')
  expect(await install('--data-dir', '/srv/other')).toMatchObject({
    code: 1,
    err: `steno: ${settings} names the data folder /srv/words: change it there, then install again\n`,
  })
})

test('a relative path in the settings file starts at the data folder, where the service runs', async () => {
  const file = join(folder, 'relative.env')
  const paths = 'STENO_MODELS_DIR=models\nSTENO_STANDBY=/mnt/pair\nSTENO_MODEL=./mine\n'
  writeFileSync(file, `STENO_DATA_DIR=/srv/words\n${paths}STENO_DEVICE=cpu\n`)
  const before = process.cwd()
  // The paths `models` and `./mine` in the file must start at the data folder, /srv/words, and not at the working
  // folder of this process. The working folder is now /tmp, which the systemd unit hides from the service. So if the
  // paths started there, `requireUsable` would refuse them, and the test would fail.
  process.chdir('/tmp')
  try {
    await inEnvironment({ STENO_ENV_FILE: file }, () => {
      const absolute = { STENO_MODELS_DIR: '/srv/words/models', STENO_MODEL: '/srv/words/mine' }
      expect(installedSettings()).toMatchObject({ ...absolute, STENO_STANDBY: '/mnt/pair' })
    })
    requireUsable(settingsIn(file), '/srv/words')
    const outside = () => requireUsable({ STENO_MODELS_DIR: '../../home/models' }, '/srv/words')
    expect(outside).toThrow('/home/models: ProtectHome in the unit hides /home from the service')
    expect(() => requireUsable({ STENO_MEDIA: 'media' }, '/srv/words')).toThrow(
      'STENO_MEDIA=/srv/words/media: ',
    )
    expect(pathsIn({ STENO_MODEL: 'base', STENO_STANDBY: '' }, '/srv/words')).toEqual({})
  } finally {
    process.chdir(before)
  }
})

test('a command uses the settings of the installed service if no other data folder is named, and its own before these', async () => {
  const file = join(folder, 'own.env')
  writeFileSync(file, 'STENO_DATA_DIR=/srv/words\nSTENO_DEVICE=cpu\nSTENO_PORT=9090\n')
  const before = process.cwd()
  process.chdir(folder)
  try {
    await inEnvironment({ STENO_ENV_FILE: file, STENO_DEVICE: 'cuda' }, () => {
      expect(serviceConfig()).toMatchObject({ dataDir: '/srv/words', device: 'cuda', port: 9090 })
      expect(serviceConfig({ device: '' })).toMatchObject({ device: 'auto', port: 9090 })
      expect(serviceConfig({ 'data-dir': '/srv/own' })).toMatchObject({ dataDir: '/srv/own', port: 8080 })
    })
  } finally {
    process.chdir(before)
  }
})

test('a folder that the unit hides from the service is refused, also behind a link', async () => {
  const install = async (dataDir: string, ...options: string[]) => {
    const { code, err } = await findCommand(folder, 'install', '--dry-run', '--data-dir', dataDir, ...options)
    return code === 0 ? '' : /(\S+) in the unit hides (\S+) from/.exec(err)?.slice(1).join(' ')
  }
  const link = join(folder, 'link')
  symlinkSync('/home', link)
  for (const [dataDir, refusal] of [
    ['/home/steno', 'ProtectHome /home'],
    ['/root', 'ProtectHome /root'],
    ['/tmp/a/b', 'PrivateTmp /tmp'],
    ['/var/tmp/steno', 'PrivateTmp /var/tmp'],
    ['/run/user/0/steno', 'ProtectHome /run/user'],
    [join(link, 'new/steno'), 'ProtectHome /home'],
    ['/homes/steno', ''],
    ['/srv/home', ''],
  ] as const)
    expect([dataDir, await install(dataDir)]).toEqual([dataDir, refusal])
  expect(await install('/srv/steno', '--root', '/tmp/image')).toBe('')
  expect(await install('/home/steno', '--root', '/tmp/image')).toBe('ProtectHome /home')
})

const analyze = Bun.which('systemd-analyze')
test.skipIf(analyze === null)(
  `systemd accepts every line of the unit${analyze ? '' : ' (SKIPPED: there is no systemd-analyze here)'}`,
  async () => {
    const unit = join(folder, 'steno.service')
    const place = { binary: process.execPath, dataDir: folder, environmentFile: join(folder, 'env') }
    const verify = () => Bun.spawnSync([analyze!, 'verify', '--man=no', unit]).stderr.toString()
    await Bun.write(unit, unitText(place))
    expect(
      verify()
        .split('\n')
        .filter(line => line.includes('steno.service')),
    ).toEqual([])
    await Bun.write(unit, unitText(place).replace('UMask=', 'UMasque='))
    expect(verify()).toContain('UMasque')
  },
)
