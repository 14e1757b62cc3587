// Sends files to the server, one after the other, and starts a job for each file.

import { session } from '../account/session.ts'
import { isOnline, pause, signInAgain } from '../base/connection.ts'
import { Fault, messageOf } from '../base/fault.ts'
import { isAway } from '../base/net.ts'
import { retryPauseMs, timing } from '../base/timing.ts'
import { words } from '../words.ts'
import { type JobOptions, newId, submitJob } from './job.ts'
import { refreshJobs } from './job-list.ts'
import { offsetOf, removeUpload, sendFile, startUpload, UnreadableFile } from './tus.ts'
import {
  change,
  files,
  findUpload,
  hold,
  isSame,
  isWorking,
  keep,
  ownUploads,
  remove,
  type Upload,
  uploads,
} from './upload-list.ts'

/** A file is sent in parts. The page shows a message when the server has refused a part this many times in a row. */
const refusedOften = 3

const stops = new Map<string, AbortController>()

/**
 * Adds files to the uploads. If an upload of the same file with the same options is paused or has failed, continues
 * this upload instead. Also continues an upload that a reload of the page has interrupted: the page then no longer has
 * its file. Returns the files that are already being sent with the same options. They are not added, because the person
 * would pay for two jobs.
 */
export function addFiles(added: readonly File[], options: JobOptions): File[] {
  const repeated: File[] = []
  for (const file of added) {
    const before = ownUploads.value.find(upload => isSame(upload, file) && isRepeated(upload, options))
    if (!before) addFile(file, options)
    else if (isWorking(before)) repeated.push(file)
    else continueUpload(before.id, file)
  }
  return repeated
}

/**
 * Returns true if this upload already has the options `options`, so that sending the same file again would only repeat
 * this upload. Also returns true, with any options, if the page has lost the file of the upload, for example after a
 * reload. The person then adds the file again to continue this upload, which keeps its own options.
 */
function isRepeated({ state, options: before }: Upload, options: JobOptions): boolean {
  return state === 'lost' || JSON.stringify(before) === JSON.stringify(options)
}

export function pauseUploads(ids: readonly string[]): void {
  for (const id of ids) {
    stops.get(id)?.abort()
    change(id, { state: 'paused', bytesPerSecond: 0 })
  }
  sendNext()
}

/** Continues an upload. After a reload, `file` is required, because the page has lost the file. */
export function continueUpload(id: string, file?: File): void {
  const upload = findUpload(id)
  if (!upload) return
  if (file && !isSame(upload, file)) {
    change(id, { fault: words.uploads.otherFile(upload.name) })
    return
  }
  if (file) hold(id, file)
  change(id, { state: 'queued', fault: '' })
  sendNext()
}

export function dismissUpload(id: string): void {
  const started = findUpload(id)?.started
  stops.get(id)?.abort()
  remove(id)
  if (started) removeUpload(started.address)
  sendNext()
}

function addFile(file: File, options: JobOptions): void {
  const id = newId()
  files.set(id, file)
  const state = { started: null, sent: 0, state: 'queued', bytesPerSecond: 0, fault: '' } as const
  const accountId = session.value?.account_id
  const about = { accountId, name: file.name, size: file.size, modifiedAt: file.lastModified, options }
  uploads.value = [...uploads.value, { id, ...about, ...state }]
  sendNext()
}

/** Sends the next queued file, unless another upload is running. */
function sendNext(): void {
  keep()
  if (uploads.value.some(({ state }) => state === 'sending' || state === 'starting')) return
  const next = uploads.value.find(({ state }) => state === 'queued')
  if (next) void send(next.id)
}

async function send(id: string): Promise<void> {
  const stop = new AbortController()
  stops.set(id, stop)
  change(id, { state: 'sending' })
  try {
    await sendAll(id, stop.signal)
    const { started = null, options = {}, name = '' } = findUpload(id) ?? {}
    if (started) {
      change(id, { state: 'starting' })
      await patiently(() => submitJob({ upload_id: started.uploadId }, options, name), stop.signal)
      remove(id)
      await refreshJobs().catch(() => null)
    }
  } catch (error) {
    if (error instanceof UnreadableFile) lose(id)
    else if (!stop.signal.aborted) change(id, { state: 'failed', fault: messageOf(error) })
  }
  sendNext()
}

/** Records that the page cannot read the file of an upload any more. The person can then choose the file again. */
function lose(id: string): void {
  files.delete(id)
  change(id, { state: 'lost', bytesPerSecond: 0, fault: words.uploads.unreadable })
}

async function sendAll(id: string, signal: AbortSignal): Promise<void> {
  const file = files.get(id)
  if (!file) return change(id, { state: 'lost' })
  let { started = null } = findUpload(id) ?? {}
  let offset = started ? await patiently(() => offsetOf(started?.address ?? '', signal), signal) : 0
  if (started === null || offset === null) {
    started = await patiently(() => startUpload(file, signal), signal)
    offset = 0
  }
  change(id, { started, sent: offset })
  keep()
  const speed = speedOf(offset)
  await sendFile(file, started.address, {
    offset,
    signal,
    onProgress: sent => change(id, { sent, bytesPerSecond: speed(sent) }),
    onRefused: times => change(id, { fault: times < refusedOften ? '' : words.uploads.refused }),
  })
}

/**
 * Calls `work`. Calls it again after a pause if the server does not answer, is busy, or limits the request rate. After
 * the end of the session, calls it again when the person has signed in. Throws any other error.
 */
async function patiently<Value>(work: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
  for (let tries = 0; ; tries++) {
    try {
      const value = await work()
      isOnline.value = true
      return value
    } catch (error) {
      if (signal.aborted) throw error
      if (error instanceof Fault && error.status === 401) {
        await signInAgain()
        continue
      }
      const isLimited = error instanceof Fault && error.status === 429
      if (!isLimited && !isAway(error)) throw error
      isOnline.value = isLimited
      const retryAfterMs = isLimited ? error.retryAfterMs : null
      await pause(retryAfterMs ?? retryPauseMs(tries), signal)
      signal.throwIfAborted()
    }
  }
}

/**
 * Returns a function that computes the speed of an upload from the number of bytes sent so far. The speed is the
 * average over the last `timing.speedMs`, in bytes per second. `start` is the number of bytes that were sent before
 * this call.
 */
function speedOf(start: number): (sent: number) => number {
  let marks = [{ at: performance.now(), sent: start }]
  return sent => {
    const now = performance.now()
    marks = [...marks.filter(({ at }) => now - at < timing.speedMs), { at: now, sent }]
    const [first] = marks
    return first && now > first.at ? ((sent - first.sent) / (now - first.at)) * 1000 : 0
  }
}
