// The uploads of this page, and the stored uploads of earlier visits. A stored upload may belong to another open page,
// which still has its file. This page therefore asks the other pages, and does not show the uploads whose files they
// have.

import { computed, signal } from '@preact/signals'
import { session } from '../account/session.ts'
import { forget, store, stored, storedNames } from '../base/storage.ts'
import type { JobOptions } from './job.ts'
import type { Started } from './tus.ts'

type UploadState = 'queued' | 'sending' | 'paused' | 'lost' | 'failed' | 'starting'

export type Upload = {
  id: string
  /** The id of the account that added the file. */
  accountId: string | undefined
  name: string
  size: number
  modifiedAt: number
  options: JobOptions
  /** The upload on the server. Null if the server has not created it yet. */
  started: Started | null
  sent: number
  state: UploadState
  bytesPerSecond: number
  fault: string
}

const prefix = 'upload.'

export const uploads = signal<Upload[]>(storedUploads())
/** The uploads of the signed-in account. Another account may have used the same browser before. */
export const ownUploads = computed(() =>
  uploads.value.filter(({ accountId }) => accountId === session.value?.account_id),
)
/**
 * True if closing or reloading this page would interrupt or lose an upload. The browser's storage keeps only uploads
 * that exist on the server. An upload that the server has not created yet would therefore be lost.
 */
export const needsPage = computed(() =>
  uploads.value.some(upload => isWorking(upload) || (upload.started === null && upload.state !== 'lost')),
)
/** The files that the person has chosen, by the id of the upload. After a reload of the page, this map is empty. */
export const files = new Map<string, File>()

/**
 * A message to the other pages. `asks` requests the ids of the uploads whose files these pages have. `holds` has the
 * ids of uploads whose files the sender has.
 */
type Talk = { asks: true } | { holds: string[] }
const otherPages = new BroadcastChannel('steno.uploads')
otherPages.onmessage = ({ data }: MessageEvent<Talk>) => {
  if ('asks' in data) otherPages.postMessage({ holds: [...files.keys()] })
  else uploads.value = uploads.value.filter(({ id, state }) => state !== 'lost' || !data.holds.includes(id))
}
otherPages.postMessage({ asks: true })

addEventListener('pagehide', keep)

/** Returns true if the upload waits for the file before it, or is being sent. A person can pause it. */
export function isPausable({ state }: Upload): boolean {
  return state === 'queued' || state === 'sending'
}

/** Returns true if the upload stands still, and a person can continue it. */
export function isStopped({ state }: Upload): boolean {
  return state === 'paused' || state === 'failed'
}

export function isWorking(upload: Upload): boolean {
  return isPausable(upload) || upload.state === 'starting'
}

export function findUpload(id: string): Upload | undefined {
  return uploads.value.find(upload => upload.id === id)
}

export function change(id: string, changes: Partial<Upload>): void {
  uploads.value = uploads.value.map(upload => (upload.id === id ? { ...upload, ...changes } : upload))
}

export function remove(id: string): void {
  uploads.value = uploads.value.filter(upload => upload.id !== id)
  files.delete(id)
  forget(`${prefix}${id}`)
}

/**
 * Stores uploads in the browser's storage, but only if they exist on the server and this page has their files. An
 * upload without its file is not stored again, because another page may have completed or removed it.
 */
export function keep(): void {
  for (const upload of uploads.value) {
    if (upload.started !== null && files.has(upload.id)) store(`${prefix}${upload.id}`, upload)
  }
}

/**
 * Records that this page has the file of an upload. Tells the other open pages of steno, because they may show this
 * upload as one whose file is missing. They then remove it from their lists.
 */
export function hold(id: string, file: File): void {
  files.set(id, file)
  otherPages.postMessage({ holds: [id] })
}

/**
 * Returns the stored uploads of earlier visits and of other pages. This page does not have the files of these uploads.
 */
function storedUploads(): Upload[] {
  return storedNames(prefix)
    .flatMap(name => stored<Upload>(name) ?? [])
    .map(upload => ({ ...upload, state: 'lost', bytesPerSecond: 0, fault: '' }))
}

export function isSame(upload: Upload, file: File): boolean {
  return upload.name === file.name && upload.size === file.size && upload.modifiedAt === file.lastModified
}
