// The list of jobs. While the page is visible, the list is requested at intervals. If all jobs have ended, the
// intervals are longer. The requests continue, because another program may add a job.

import { computed, signal } from '@preact/signals'
import { now } from '../base/clock.ts'
import { ask } from '../base/net.ts'
import { timing } from '../base/timing.ts'
import { tell, tellFault, tellWithUndo } from '../parts/toast.tsx'
import { words } from '../words.ts'
import { isEnded, type Job, type JobStatus, nameOf } from './job.ts'

type Page = { items: Job[]; next_cursor: string | null }

export const statusFilter = signal<JobStatus | ''>('')
/** The filter by age: the number of days as text. `0` shows jobs of any age. */
export const daysFilter = signal('0')
/** The number of jobs in a page of the list, unless a request asks for more. */
const pageLength = 50
/** The largest number of jobs that a request may ask for. */
const pageLengthMax = 200
const loaded = signal<Job[] | null>(null)
/** The chosen filters at the last call of `watchJobs`. */
let listed = ''
/**
 * The number of times that `refreshJobs` has replaced the whole list. `readMoreJobs` drops its response if this number
 * has changed during the request.
 */
let beginnings = 0
/** The time at which `refreshJobs` last received a response. Zero if its last request has no response yet, or failed. */
let readAt = 0
const cursor = signal<string | null>(null)
/**
 * The ids of the jobs that the person has deleted, even if the deletion can still be undone. The page hides these jobs.
 */
const hidden = signal<ReadonlySet<string>>(new Set())

export const jobs = computed(() => loaded.value?.filter(({ id }) => !hidden.value.has(id)) ?? null)
export const hasMore = computed(() => cursor.value !== null)

/**
 * Requests the newest jobs again, for the new jobs and the present state of the unfinished jobs. The requested page has
 * space for all loaded jobs from the newest job to the oldest unfinished job, up to `pageLengthMax` jobs. Loaded jobs
 * that are older than the response stay in the list, except in two cases. If the response is the whole list, no older
 * jobs exist. If the response has none of the loaded jobs, jobs between the response and the loaded jobs may be
 * missing. In both cases, the loaded jobs are dropped.
 */
export async function refreshJobs(): Promise<void> {
  const filter = currentFilter()
  readAt = 0
  const page = await readPage(undefined, unfinishedLength())
  readAt = Date.now()
  if (filter !== currentFilter()) return
  const known = loaded.value ?? []
  const fresh = new Set(page.items.map(({ id }) => id))
  const last = page.items.at(-1)
  // The response replaces all loaded jobs if it is the whole list (no jobs follow), or if it has none of the loaded
  // jobs. In the second case, jobs that are older than the response and newer than the loaded jobs may be missing.
  const beginsAgain = page.next_cursor === null || !known.some(({ id }) => fresh.has(id))
  const isOlder = (job: Job) => !fresh.has(job.id) && last && job.created_at < last.created_at
  const older = beginsAgain ? [] : known.filter(isOlder)
  loaded.value = [...page.items, ...older]
  if (older.length === 0) cursor.value = page.next_cursor
  if (beginsAgain) beginnings += 1
}

export async function readMoreJobs(): Promise<void> {
  const [before, filter] = [beginnings, currentFilter()]
  if (cursor.value === null) return
  const page = await readPage(cursor.value)
  if (before !== beginnings || filter !== currentFilter()) return
  const known = new Set(loaded.value?.map(({ id }) => id))
  loaded.value = [...(loaded.value ?? []), ...page.items.filter(({ id }) => !known.has(id))]
  cursor.value = page.next_cursor
}

export function showAllJobs(): void {
  statusFilter.value = ''
  daysFilter.value = '0'
}

/**
 * Requests the list of jobs for the chosen filters, and then again at intervals. Returns a function that ends the
 * requests.
 */
export function watchJobs(): () => void {
  if (listed !== currentFilter()) {
    listed = currentFilter()
    loaded.value = null
    cursor.value = null
  }
  let timer: ReturnType<typeof setTimeout>
  let isOver = false
  const again = async () => {
    const isDue = loaded.value?.every(isEnded) !== true || Date.now() - readAt > timing.idleListEveryMs
    if (!document.hidden && isDue) await refreshJobs().catch(() => null)
    if (!isOver) timer = setTimeout(again, timing.listEveryMs)
  }
  const wake = () => void (document.hidden || refreshJobs().catch(() => null))
  document.addEventListener('visibilitychange', wake)
  refreshJobs()
    .catch(tellFault)
    .then(() => {
      if (!isOver) timer = setTimeout(again, timing.listEveryMs)
    })
  return () => {
    isOver = true
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', wake)
  }
}

export async function cancelJob(job: Pick<Job, 'id'>): Promise<void> {
  try {
    await ask('POST', `/v1/transcribe/${job.id}/cancel`)
    tell(words.jobs.cancelled)
  } catch (fault) {
    tellFault(fault)
  }
  await refreshJobs().catch(() => null)
}

/**
 * Hides a job on the page. Deletes it on the server when the time for an undo is over, or when the page is closed.
 * Shows it again after an undo or a failed deletion.
 */
export function deleteJob(job: Job): void {
  hide(job.id, true)
  tellWithUndo(words.jobs.deleted(nameOf(job)), {
    undo: () => hide(job.id, false),
    act: () =>
      ask<void>('DELETE', `/v1/transcribe/${job.id}`, { keepalive: true }).catch(fault => {
        hide(job.id, false)
        tellFault(fault)
      }),
  })
}

function hide(id: string, isHidden: boolean): void {
  const next = new Set(hidden.value)
  if (isHidden) next.add(id)
  else next.delete(id)
  hidden.value = next
}

/**
 * Returns the number of jobs from the start of the list to the last one that has not ended. The list begins with the
 * newest job, but the oldest job is processed first. A running job may therefore be far from the start.
 */
function unfinishedLength(): number {
  return (loaded.value?.findLastIndex(job => !isEnded(job)) ?? -1) + 1
}

/** Requests a page of the list. The page has space for at least `least` jobs, up to the maximum of the API. */
function readPage(after: string | undefined, least = 0): Promise<Page> {
  const midnight = new Date(now())
  midnight.setHours(0, 0, 0, 0)
  midnight.setDate(midnight.getDate() - Number(daysFilter.value) + 1)
  return ask('GET', '/v1/transcriptions', {
    query: {
      status: statusFilter.value,
      from: daysFilter.value === '0' ? undefined : midnight.toISOString(),
      cursor: after,
      limit: least > pageLength ? Math.min(least, pageLengthMax) : undefined,
    },
  })
}

function currentFilter(): string {
  return `${statusFilter.value} ${daysFilter.value}`
}
