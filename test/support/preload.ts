// Bun loads this file before the first test file of a process. After that, `selfCommand` starts the executable of
// built-source.ts, and not the source.

import { mock } from 'bun:test'
import { builtSource } from './built-source.ts'
import './own-environment.ts'

mock.module('../../src/base/self.ts', () => ({
  selfCommand: (...args: string[]) => [builtSource(), ...args],
}))
