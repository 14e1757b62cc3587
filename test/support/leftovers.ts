// Fails a test file that leaves a change in its process, such as a replaced function or another environment variable.
// The change could make a later test file in the same process fail. `bunfig.toml` loads this file before the test
// files.

import { Database } from 'bun:sqlite'
import { afterAll, jest } from 'bun:test'
import { log } from '../../src/base/log.ts'
import { terminal } from '../../src/cli/terminal.ts'

/** The objects with functions that tests replace by `spyOn`. A test must restore the functions. */
const shared = {
  globalThis,
  console,
  'process.stdout': process.stdout,
  'process.stderr': process.stderr,
  Date,
  Math,
  Bun,
  'Bun.password': Bun.password,
  'Database.prototype': Database.prototype,
  log,
  terminal,
}

/** Returns the checked parts of the process state that test files share, by name. */
function stateOfProcess(): Map<string, unknown> {
  const state = new Map<string, unknown>([
    ['process.cwd()', process.cwd()],
    ['jest.isFakeTimers()', jest.isFakeTimers()],
  ])
  for (const [name, value] of Object.entries(process.env)) state.set(`process.env.${name}`, value)
  // Listeners for signals and `exit` are not checked: tus-js-client and Playwright add some.
  for (const event of process.eventNames().map(String))
    if (!/^(exit|SIG.*)$/.test(event)) state.set(`the listeners for ${event}`, process.listenerCount(event))
  for (const [owner, object] of Object.entries(shared))
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(object)))
      if (typeof value === 'function') state.set(`${owner}.${name}`, value)
  return state
}

let before = stateOfProcess()

// Bun calls this function at the end of each test file, after the file's own `afterAll` functions.
afterAll(() => {
  const after = stateOfProcess()
  const names = new Set([...before.keys(), ...after.keys()])
  const changed = [...names].filter(name => before.get(name) !== after.get(name))
  before = after
  if (changed.length > 0) throw new Error(`${Bun.main} leaves a change in its process: ${changed.join(', ')}`)
})
