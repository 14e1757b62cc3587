import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { builtProgram } from '../support/built-program.ts'
import { scratch } from '../support/folder.ts'

const root = join(import.meta.dir, '../..')
const isClone = existsSync(join(root, '.git'))

test.skipIf(!isClone)(
  `the first hour of a newcomer passes with the built program${isClone ? '' : ' (SKIPPED: this folder is no git clone)'}`,
  () => {
    // The script clones the project into `scratch`, which is usually in memory. On an ext4 disk from which earlier
    // tests have removed many files, git would need up to 1.7 s of CPU time to create its 1,800 files.
    const command = [join(root, 'scripts/first-hour.sh'), builtProgram(), scratch]
    const { exitCode, stdout, stderr } = Bun.spawnSync(command)
    expect([exitCode, `${stderr}`]).toEqual([0, ''])
    const [, seconds] = /good: the first hour took (\d+) s\n$/.exec(`${stdout}`) ?? []
    expect(Number(seconds)).toBeLessThan(300)
  },
  300_000,
)
