import { expect, test } from 'bun:test'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { requireSystemd, unitText } from '../../src/cli/unit.ts'
import { findCommand } from '../support/command.ts'
import { temporaryFolder } from '../support/folder.ts'

const folder = temporaryFolder()

test('a dry run prints the unit and does nothing', async () => {
  const { code, out } = await findCommand(folder, 'install', '--dry-run', '--data-dir', '/srv/words')
  expect(code).toBe(0)
  for (const line of [
    'User=steno',
    'ProtectSystem=strict',
    'ReadWritePaths=/srv/words',
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

test('a data folder in the settings file that is not absolute is refused', async () => {
  const image = temporaryFolder()
  const settings = join(image, 'etc/steno.env')
  await Bun.write(settings, 'STENO_DATA_DIR=./data\n')
  const { code, err } = await findCommand(folder, 'install', '--dry-run', '--root', image)
  expect([code, err]).toEqual([1, `steno: ${settings} names the data folder ./data: use an absolute path\n`])
})

test('the data folder in the settings file is used, and no other one is accepted', async () => {
  const image = temporaryFolder()
  const settings = join(image, 'etc/steno.env')
  await Bun.write(settings, 'STENO_DATA_DIR=/srv/words\n')
  const install = (...options: string[]) =>
    findCommand(folder, 'install', '--dry-run', '--root', image, ...options)
  for (const options of [[], ['--data-dir', '/srv/words/']])
    expect((await install(...options)).out).toContain('\nReadWritePaths=/srv/words\n')
  expect(await install('--data-dir', '/srv/other')).toMatchObject({
    code: 1,
    err: `steno: ${settings} names the data folder /srv/words: change it there, then install again\n`,
  })
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
