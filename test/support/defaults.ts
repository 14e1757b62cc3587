// The configuration of a server for which no environment variable is set.

import { readConfig } from '../../src/config.ts'

export const defaults = readConfig({})
