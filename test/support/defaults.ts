// The default settings.

import { readConfig } from '../../src/config.ts'

export const defaults = readConfig({})
