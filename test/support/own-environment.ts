// Keeps settings of the test process from the programs that it starts: they must use memory as they do at a user.

/** The Makefile sets it: the allocator of a test process keeps freed memory, which takes less CPU time. */
const ownSettings = ['MIMALLOC_PURGE_DELAY']

for (const name of ownSettings) delete process.env[name]

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
