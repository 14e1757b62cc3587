// Sets the environment of the tests, and of the programs that tests start.
//
// MIMALLOC_PURGE_DELAY, which the Makefile sets for the test process, is kept from these programs: they must use memory
// in the same way as for a user. The cache folder of the user is not used: a service also finds the models there, and no
// test may find or remove them.

import { tmpdir } from 'node:os'
import { join } from 'node:path'

delete process.env.MIMALLOC_PURGE_DELAY
process.env.STENO_CACHE_DIR = join(tmpdir(), `steno-test-cache-${process.getuid?.()}`)

// Without `env`, Bun gives a child the environment with which this process began, and not `process.env`.
const { spawn, spawnSync } = Bun
Object.assign(Bun, {
  spawn: withEnvironment(spawn),
  spawnSync: withEnvironment(spawnSync),
})

type Spawn = (command: string[], options?: { env?: typeof process.env }) => unknown

function withEnvironment(original: unknown): Spawn {
  return (command, options) => (original as Spawn)(command, { env: process.env, ...options })
}
