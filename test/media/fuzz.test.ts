// Damaged files of every kind: each is decoded, or fails with a code of the specification. `make bench` runs 2,000.

import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { temporaryFolder } from '../support/folder.ts'
import { tryMutants } from './fuzzing.ts'
import { childrenOf } from './processes.ts'

const cases = 200

test(`${cases} damaged files are decoded or fail with a code`, async () => {
  const folder = temporaryFolder()
  const outcomes = await tryMutants(cases, folder)
  const endings = new Set(outcomes.map(({ ended }) => ended))

  expect(outcomes).toHaveLength(cases)
  // Some damage must be survived and some must not, otherwise the damage tests nothing.
  expect(endings).toContain('decoded')
  expect(endings).toContain('INVALID_MEDIA_FORMAT')
  const allowed = ['decoded', 'INVALID_MEDIA_FORMAT', 'DURATION_TOO_LONG', 'PROCESSING_ERROR']
  expect([...endings].filter(ending => !allowed.includes(ending))).toEqual([])

  expect(childrenOf(process.pid)).toEqual([])
  expect(readdirSync(folder)).toHaveLength(cases)
}, 180_000)
