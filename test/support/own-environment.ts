// Keeps MIMALLOC_PURGE_DELAY, which the Makefile sets for the test process, from the programs that tests start: they must
// use memory in the same way as for a user.

delete process.env.MIMALLOC_PURGE_DELAY

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
