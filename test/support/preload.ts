// Bun loads this file before the first test file of a process. `selfCommand` then starts the compiled source code
// (built-source.ts).

import { mock } from 'bun:test'
import { builtSource } from './built-source.ts'
import './own-environment.ts'

mock.module('../../src/base/self.ts', () => ({
  selfCommand: (...args: string[]) => [builtSource(), ...args],
}))
