import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { unitText } from '../../src/cli/unit.ts'
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
