import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { openLibc } from '../../src/base/libc.ts'

const linux = process.platform === 'linux'

test.skipIf(!linux)('each function comes from the first file that has it; missing files are skipped', () => {
  const table = {
    getpid: { args: [], returns: 'i32' },
    cos: { args: ['f64'], returns: 'f64' },
  } as const
  const { getpid, cos } = openLibc(table, ['libmissing.so.1', 'libc.so.6', 'libm.so.6'])
  expect([getpid(), cos(0)]).toEqual([process.pid, 1])
  expect(() => openLibc(table, ['libc.so.6'])).toThrow('the C library of this machine has no function cos')
})

test.skipIf(!linux)(
  'the C library of this machine has the functions that load libraries and wait for runs',
  () => {
    const { dlopen, dlsym, sem_init, sem_wait } = openLibc({
      dlopen: { args: ['ptr', 'i32'], returns: 'ptr' },
      dlsym: { args: ['ptr', 'ptr'], returns: 'ptr' },
      sem_init: { args: ['ptr', 'i32', 'u32'], returns: 'i32' },
      sem_wait: { args: ['ptr'], returns: 'i32' },
    })
    const semaphore = new Uint8Array(64)
    const now = 2
    expect(dlopen(Buffer.from('libmissing.so.1\0'), now)).toBeNull()
    expect(dlopen(Buffer.from('libm.so.6\0'), now)).not.toBeNull()
    expect(dlsym(null, Buffer.from('sem_post\0'))).not.toBeNull()
    expect([sem_init(semaphore, 0, 1), sem_wait(semaphore)]).toEqual([0, 0])
  },
)

test.skipIf(!linux)('without machine code of Bun, a call names the limits that forbid it', () => {
  const file = JSON.stringify(join(import.meta.dir, '../../src/base/system-call.ts'))
  const code = `import { systemCall } from ${file}
    try { systemCall('prctl', 3) } catch (error) { console.log(error.message) }`
  const child = Bun.spawnSync([process.execPath, '-e', code], {
    env: { ...process.env, BUN_JSC_useJIT: 'false' },
  })
  expect(child.stdout.toString()).toContain('ulimit -v unlimited')
})
