// A fake engine child process. The first command-line argument selects its behaviour, such as `hangs`.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Order, Report } from '../../src/engine/protocol.ts'
import type { Utterance } from '../../src/transcripts/transcript.ts'

const [behaviour = ''] = process.argv.slice(2)
const send = (report: unknown): void => void process.send?.(report as Report)

process.on('disconnect', () => process.exit(0))
process.on('message', async (order: Order): Promise<void> => {
  if (order.kind === 'load') {
    if (behaviour === 'cannot-load' || (behaviour === 'loads-wanted' && !order.folder.endsWith('wanted')))
      return send({ kind: 'cannotLoad', message: 'cuda: no such provider' })
    if (/-loading-once$/.test(behaviour) && (await firstTime(join(order.folder, 'loading')))) {
      if (behaviour === 'dies-loading-once') process.exit(7)
      return
    }
    if (behaviour === 'loads-once' && !(await firstTime(join(order.folder, 'loaded')))) return
    if (behaviour === 'rubbish') {
      send(null)
      send('loaded')
      send({ kind: 'done', id: 99, transcript: {} })
    }
    return send({
      kind: 'loaded',
      facts: {
        device: 'cpu',
        variant: 'fp32',
        runtime: 'none',
        diarization: 'ready',
        languages: ['en', 'de'],
        translates: true,
        notes: [],
      },
    })
  }
  if (order.kind !== 'job') return
  const { id, input } = order
  const first = await firstTime(input.path)
  send({ kind: 'progress', id, seconds: 0 })
  if (behaviour === 'dies' || (behaviour === 'dies-once' && first)) process.kill(process.pid, 'SIGKILL')
  if (behaviour === 'hangs' || (behaviour === 'hangs-once' && first)) return
  if (behaviour === 'lacks-utterances-once' && first) return send({ kind: 'part', id })
  if (behaviour === 'refuses')
    return send({ kind: 'failed', id, code: 'INVALID_MEDIA_FORMAT', message: 'not sound' })
  if (behaviour === 'slow') {
    for (let seconds = 1; seconds <= 10; seconds++) {
      send({ kind: 'progress', id, seconds })
      await Bun.sleep(30)
    }
  }
  if (behaviour === 'speaks') {
    for (const first of [0, 1])
      send({ kind: 'utterances', id, first, utterances: [utterance(`part ${first}`)], language: 'de' })
    send({ kind: 'warning', id, event: 'text doubtful', fields: { from_second: 1, to_second: 2 } })
    if (order.wantsTurns) send({ kind: 'turns', id, turns: [{ start: 0, end: 1, speaker: 'SPEAKER 1' }] })
    send({ kind: 'peaks', id, peaks: Uint8Array.of(7) })
    for (const first of [0, 1]) send({ kind: 'part', id, utterances: [utterance(`part ${first}`)] })
  }
  const full_transcript = `heard by ${process.pid}`
  send({
    kind: 'done',
    id,
    transcript: {
      full_transcript,
      language: input.language ?? 'en',
      duration_seconds: 1,
      speakers: null,
      utterances: [],
      ...(behaviour === 'speaks' ? { model: 'another' } : {}),
      warnings: behaviour === 'warns' ? ['mind this'] : [],
    },
  })
  if (behaviour === 'disconnects-once' && first) await disconnect(input.path)
})

/**
 * Waits until the server has received the result of the job, and then closes the connection to the server. The process
 * goes on running.
 */
async function disconnect(path: string): Promise<void> {
  while (!(await Bun.file(`${path}.received`).exists())) await Bun.sleep(5)
  process.removeAllListeners('disconnect')
  process.disconnect?.()
  setInterval(() => {}, 1000)
  await Bun.write(`${path}.disconnected`, '')
}

/**
 * Returns true to the first engine process that calls this function with `path`, and false to the process of a retry.
 * The first process creates a file at `path`, and the next process finds this file. `path` may be the media path of a
 * job, because the tests write no media file there.
 */
async function firstTime(path: string): Promise<boolean> {
  try {
    await writeFile(path, 'seen', { flag: 'wx' })
    return true
  } catch {
    return false
  }
}

function utterance(text: string): Utterance {
  return { start: 0, end: 1, text, speaker: null, confidence: null, words: [] }
}
