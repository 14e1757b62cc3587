// Plays an engine child, well or badly, as its first argument says: what the supervisor must live with.

import type { Order, Report } from '../../src/engine/protocol.ts'

const [behaviour = ''] = process.argv.slice(2)
const say = (report: unknown): void => void process.send!(report as Report)

process.on('disconnect', () => process.exit(0))
process.on('message', async (order: Order): Promise<void> => {
  if (order.kind === 'load') {
    if (behaviour === 'cannot-load') return say({ kind: 'cannotLoad', message: 'cuda: no such provider' })
    if (behaviour === 'dies-loading') process.exit(7)
    if (behaviour === 'rubbish') {
      say(null)
      say('loaded')
      say({ kind: 'done', id: 99, transcript: {} })
    }
    return say({
      kind: 'loaded',
      facts: { device: 'cpu', variant: 'fp32', runtime: 'none', diarization: 'ready', notes: [] },
    })
  }
  const { id, input } = order
  const first = await firstTime(input.path)
  say({ kind: 'progress', id, seconds: 0 })
  if (behaviour === 'dies' || (behaviour === 'dies-once' && first)) process.kill(process.pid, 'SIGKILL')
  if (behaviour === 'hangs' || (behaviour === 'hangs-once' && first)) return
  if (behaviour === 'refuses')
    return say({ kind: 'failed', id, code: 'INVALID_MEDIA_FORMAT', message: 'not sound' })
  if (behaviour === 'slow') {
    for (let seconds = 1; seconds <= 10; seconds++) {
      say({ kind: 'progress', id, seconds })
      await Bun.sleep(30)
    }
  }
  const full_transcript = `heard by ${process.pid}`
  say({
    kind: 'done',
    id,
    transcript: { full_transcript, language: 'en', duration_seconds: 1, speakers: null, utterances: [] },
  })
})

/** Whether no child has been given this path before. */
async function firstTime(path: string): Promise<boolean> {
  if (await Bun.file(path).exists()) return false
  await Bun.write(path, 'seen')
  return true
}
