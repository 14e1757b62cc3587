// Loaded before the first test file of a process. Lets the tests and the engines that they start run the compiled
// source in place of the source.

import { mock } from 'bun:test'
import { builtSource } from './built-source.ts'
import './own-environment.ts'

mock.module('../../src/base/self.ts', () => ({
  selfCommand: (...args: string[]) => [builtSource(), ...args],
}))
