// The settings of an operator who set nothing.

import { readConfig } from '../../src/config.ts'

export const defaults = readConfig({})
