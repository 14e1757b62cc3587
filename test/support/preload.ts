// Bun loads this file before the first test file of a process. Replaces `selfCommand`, which returns the command that
// starts steno: in tests, this command runs an executable that is compiled from the source code.

import { mock } from 'bun:test'
import { builtSource } from './built-source.ts'
import './own-environment.ts'

mock.module('../../src/base/self.ts', () => ({
  selfCommand: (...args: string[]) => [builtSource(), ...args],
}))
