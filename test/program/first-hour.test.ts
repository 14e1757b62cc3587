import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { builtProgram } from '../support/built-program.ts'

const root = join(import.meta.dir, '../..')
const isClone = existsSync(join(root, '.git'))

test.skipIf(!isClone)(
  `the first hour of a newcomer passes with the built program${isClone ? '' : ' (SKIPPED: this folder is no git clone)'}`,
  () => {
    const { exitCode, stdout, stderr } = Bun.spawnSync([join(root, 'scripts/first-hour.sh'), builtProgram()])
    expect([exitCode, `${stderr}`]).toEqual([0, ''])
    const [, seconds] = /good: the first hour took (\d+) s\n$/.exec(`${stdout}`) ?? []
    expect(Number(seconds)).toBeLessThan(300)
  },
  300_000,
)
