// Sets the environment of the tests, and of the programs that tests start.
//
// MIMALLOC_PURGE_DELAY, which the Makefile sets for the test process, is removed: the started programs must use memory
// in the same way as for a user. Another folder replaces the cache folder of the user, because a service would also
// find models and the CUDA provider of the user there. The files that the built program unpacks stay in the other
// folder and are used again in the next run. Models and the CUDA provider are removed from this folder.

import { existsSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

delete process.env.MIMALLOC_PURGE_DELAY
const cache = join(tmpdir(), `steno-test-cache-${process.getuid?.()}`)
process.env.STENO_CACHE_DIR = cache
const downloads = new Bun.Glob('{models,native/cuda-*}')
if (existsSync(cache))
  for (const path of downloads.scanSync({ cwd: cache, onlyFiles: false }))
    rmSync(join(cache, path), { recursive: true, force: true })

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
