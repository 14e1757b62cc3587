// Sets the environment of the tests, and of the programs that tests start.
//
// The Makefile sets variables for the memory and the compiler of the test process. This file removes them from the
// environment, so that the programs run as for a user. The tests have their own cache folder, without the user's models
// and CUDA provider (the library that runs models on a GPU). Each run of the tests first removes the models and CUDA
// providers that an earlier run left in this folder.

import { existsSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

for (const name of Object.keys(process.env))
  if (/^(MIMALLOC|BUN_JSC|BUN_GC)_/.test(name)) delete process.env[name]
const cache = join(tmpdir(), `steno-test-cache-${process.getuid?.()}`)
process.env.STENO_CACHE_DIR = cache
const downloads = new Bun.Glob('{models,native/cuda-*}')
if (existsSync(cache))
  for (const path of downloads.scanSync({ cwd: cache, onlyFiles: false }))
    rmSync(join(cache, path), { recursive: true, force: true })

// Without the option `env`, Bun gives a child the environment with which this process started, without later changes of
// `process.env`. So these functions always pass `process.env`.
const { spawn, spawnSync } = Bun
Object.assign(Bun, {
  spawn: withEnvironment(spawn),
  spawnSync: withEnvironment(spawnSync),
})

type Spawn = (command: string[], options?: { env?: typeof process.env }) => unknown

function withEnvironment(original: unknown): Spawn {
  return (command, options) => (original as Spawn)(command, { env: process.env, ...options })
}
