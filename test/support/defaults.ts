// The configuration of a server without any settings.

import { readConfig } from '../../src/config.ts'

export const defaults = readConfig({})
