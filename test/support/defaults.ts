// The configuration of a server for which no variable is set.

import { readConfig } from '../../src/config.ts'

export const defaults = readConfig({})
