// Tests damaged files of every kind. Each file must be decoded or refused. `make bench` tests 10,000 files.

import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { temporaryFolder } from '../support/folder.ts'
import { tryMutants } from './fuzzing.ts'
import { watchChildren } from './processes.ts'

const cases = 200

test(`${cases} damaged files are decoded or refused, and none crashes or stalls the media program`, async () => {
  const folder = temporaryFolder()
  const children = watchChildren()
  const outcomes = await tryMutants(cases, folder)
  const endings = new Set(outcomes.map(({ ended }) => ended))
  // PROCESSING_ERROR is not allowed. It means that the media program crashed, stalled or sent a wrong message.
  const allowed = ['decoded', 'INVALID_MEDIA_FORMAT', 'DURATION_TOO_LONG']

  expect(outcomes).toHaveLength(cases)
  // Some files must be decoded and some must fail. Otherwise the damage is too large or too small to test anything.
  expect(endings).toContain('decoded')
  expect(endings).toContain('INVALID_MEDIA_FORMAT')
  expect(outcomes.filter(({ ended }) => !allowed.includes(ended))).toEqual([])
  expect(outcomes.filter(({ isTooSlow }) => isTooSlow)).toEqual([])

  expect(children()).toEqual([])
  expect(readdirSync(folder)).toHaveLength(cases)
}, 180_000)
