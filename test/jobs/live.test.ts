import { expect } from 'bun:test'
import { createJob } from '../../src/jobs/create.ts'
import { findJob, type Job } from '../../src/jobs/job.ts'
import { type Following, LiveJobs } from '../../src/jobs/live.ts'
import { setProgress } from '../../src/jobs/progress.ts'
import { limits } from '../../src/limits.ts'
import type { Utterance } from '../../src/transcripts/transcript.ts'
import { makeAccount } from '../support/account.ts'
import { speech } from '../support/media.ts'
import { plainJob } from '../support/plain-job.ts'
import { startTestService, steered } from '../support/service.ts'

const never = 24 * 3_600_000

function utterance(text: string): Utterance {
  return { start: 0, end: 1, text, speaker: null, confidence: null, words: [] }
}

/** Starts a service with one running job. */
async function startJob() {
  const service = await startTestService()
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(60))
  const task = await service.engine.given(1)
  return { service, ana, id, task, job: findJob(service.db, id)! }
}

/** Follows a job. `states` has its state and percentage at each notification. */
function follow(live: LiveJobs, job: Job) {
  const states: string[] = []
  const following: Following = live.follow(job, () => {
    const { state, progressPercent } = following.live.job
    states.push(`${state} ${progressPercent}`)
  })
  return { following, states }
}

steered('a follower is told of the progress and of the end of a job', async () => {
  const { service, ana, id, task, job } = await startJob()
  const live = new LiveJobs(service.db, { everyMs: 0 })
  const { states } = follow(live, job)
  setProgress(service.db, id, { sentence: 'half', percent: 50 })
  live.changed(id)
  service.engine.finish(task)
  await ana.until(id, 'completed')
  live.changed(id)
  expect(states).toEqual(['processing 50', 'completed 100'])
})

steered('within one interval a follower is told once, but of the end immediately', async () => {
  const { service, ana, id, job } = await startJob()
  const live = new LiveJobs(service.db, { everyMs: never })
  const { states } = follow(live, job)
  for (const percent of [10, 20, 30]) {
    setProgress(service.db, id, { sentence: 'on', percent })
    live.changed(id)
  }
  expect(states).toEqual(['processing 10'])
  await ana.post(`/v1/transcribe/${id}/cancel`)
  live.changed(id)
  expect(states).toEqual(['processing 10', 'failed 30'])
  live.close()
})

steered('a change inside the interval is told when the interval ends, with the latest state', async () => {
  const { service, id, job } = await startJob()
  const live = new LiveJobs(service.db, { everyMs: 20 })
  const told = Promise.withResolvers<void>()
  const following = live.follow(job, () => {
    if (following.live.job.progressPercent === 30) told.resolve()
  })
  for (const percent of [10, 20, 30]) {
    setProgress(service.db, id, { sentence: 'on', percent })
    live.changed(id)
  }
  await told.promise
})

steered(
  'a later follower gets the utterances from the start; a job that runs again replaces them',
  async () => {
    const { service, job } = await startJob()
    const live = new LiveJobs(service.db, { everyMs: 0 })
    follow(live, job)
    live.heard(job, [utterance('one'), utterance('two')], 0, 'en')
    live.heard(job, [utterance('three')], 2, 'en')
    const texts = (following: Following) => following.live.utterances.map(({ text }) => text)
    const { following } = follow(live, job)
    expect(texts(following)).toEqual(['one', 'two', 'three'])
    live.heard(job, [utterance('one again')], 0, 'en')
    expect(texts(following)).toEqual(['one again'])
  },
)

steered('an error in one listener harms neither the job nor the other listeners', async () => {
  const { service, id, job } = await startJob()
  const live = new LiveJobs(service.db, { everyMs: 0 })
  live.follow(job, () => {
    throw new Error('a broken listener')
  })
  const { states } = follow(live, job)
  setProgress(service.db, id, { sentence: 'on', percent: 1 })
  live.changed(id)
  live.changed(id)
  expect(states).toEqual(['processing 1'])
})

steered('an ended job has no more changes', async () => {
  const { service, ana, id, task } = await startJob()
  service.engine.finish(task)
  await ana.until(id, 'completed')
  const live = new LiveJobs(service.db, { everyMs: 0 })
  const { following, states } = follow(live, findJob(service.db, id)!)
  live.changed(id)
  expect(following.live.job.state).toBe('completed')
  expect(states).toEqual([])
})

steered('the runner reports the end of a job, and the utterances of the engine', async () => {
  const service = await startTestService()
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(60))
  const task = await service.engine.given(1)
  const { following, states } = follow(service.live, findJob(service.db, id)!)
  task.options.onUtterances?.([utterance('hello')], 0, 'en')
  expect(following.live.utterances).toEqual([utterance('hello')])
  service.engine.finish(task)
  await ana.until(id, 'completed')
  expect(following.live.job.state).toBe('completed')
  expect(states.at(-1)).toBe('completed 100')
})

steered('a refresh of many listeners is spread over several turns of the event loop', async () => {
  const service = await startTestService()
  const { accountId, keyId } = makeAccount(service.db, service.secrets, 'dora@example.org', 0)
  const live = new LiveJobs(service.db)
  const told: string[] = []
  const ids = Array.from({ length: limits.refreshCallsPerTurn + 1 }, () =>
    createJob(service.db, accountId, plainJob(keyId)),
  )
  for (const id of ids) live.follow(findJob(service.db, id)!, () => told.push(id))
  live.refresh()
  live.refresh()
  expect(told).toEqual(ids.slice(0, -1))
  await new Promise(resolve => setImmediate(resolve))
  expect(told).toEqual(ids)
  live.close()
})
