/** Calls `run` while environment variables have the values in `changes`. */
export async function inEnvironment<Result>(
  changes: Record<string, string>,
  run: () => Result | Promise<Result>,
): Promise<Result> {
  const before = Object.keys(changes).map(name => [name, process.env[name]] as const)
  Object.assign(process.env, changes)
  try {
    return await run()
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}
