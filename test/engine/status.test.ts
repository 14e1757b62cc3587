import { expect, spyOn, test } from 'bun:test'
import { log } from '../../src/base/log.ts'
import type { Report } from '../../src/engine/protocol.ts'
import { sendTranscript } from '../../src/engine/reports.ts'
import { EngineStatus } from '../../src/engine/status.ts'
import { limits } from '../../src/limits.ts'
import { transcriptWith, utteranceOf } from '../support/transcripts.ts'

test('a listener is called when the engine becomes ready, and not when it stays ready', () => {
  const status = new EngineStatus()
  let calls = 0
  status.onReady(() => calls++)
  for (const ready of [true, true, false, true]) status.change({ ready })
  expect(calls).toBe(2)
})

test('a fault is logged once, until a worker has loaded a model, also if the engine was ready before', () => {
  using logged = spyOn(log, 'error').mockImplementation(() => {})
  const status = new EngineStatus()
  for (const reason of ['no model', 'no model', 'no memory']) status.logFault('engine not loaded', reason)
  expect(logged).toHaveBeenCalledTimes(2)
  for (const calls of [3, 4]) {
    status.change({ ready: true })
    status.logFault('engine not loaded', 'no memory')
    expect(logged).toHaveBeenCalledTimes(calls)
  }
})

test('a long transcript is sent in parts, which have each utterance once', () => {
  const count = 2 * limits.enginePartUtterances + 1
  const utterances = Array.from({ length: count }, (_, second) => utteranceOf('a', second))
  const reports: Report[] = []
  const { send } = process
  process.send = (report: Report) => reports.push(report) > 0
  try {
    sendTranscript(7, { ...transcriptWith([]), utterances })
  } finally {
    if (send) process.send = send
    else delete process.send
  }
  const parts = reports.flatMap(report => (report.kind === 'part' ? [report.utterances] : []))
  expect(parts.map(({ length }) => length)).toEqual([...Array(2).fill(limits.enginePartUtterances), 1])
  expect(parts.flat()).toEqual(utterances)
  expect(reports.at(-1)).toMatchObject({ kind: 'done', id: 7, transcript: { utterances: [] } })
})
