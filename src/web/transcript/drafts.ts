// Stores the unsaved edits and names in the browser's storage, so that a reload or a crash does not lose them.

import { forget, store, stored } from '../base/storage.ts'

/** An unsaved edit of an utterance: its present text, and its text on the server. */
export type Draft = { utterance: number; text: string; was: string }

export function storedDrafts(jobId: string): Draft[] {
  const kept = stored<Record<string, { text: string; was: string }>>(nameOf(jobId)) ?? {}
  return Object.entries(kept).map(([utterance, draft]) => ({ utterance: Number(utterance), ...draft }))
}

/**
 * Stores the unsaved edits of this page in place of its earlier stored edits. `known` holds the utterances whose stored
 * edits belong to this page. Stored edits of other utterances stay, because they belong to another page with the same
 * transcript.
 */
export function storeDrafts(jobId: string, drafts: readonly Draft[], known: ReadonlySet<number>): void {
  const others = storedDrafts(jobId).filter(({ utterance }) => !known.has(utterance))
  const all = [...others, ...drafts]
  if (all.length === 0) forget(nameOf(jobId))
  else store(nameOf(jobId), Object.fromEntries(all.map(({ utterance, ...draft }) => [utterance, draft])))
}

/**
 * Returns the new names of speakers that are in the browser's storage, because the server has not stored them yet. The
 * key is the name before the change.
 */
export function storedNames(jobId: string): Record<string, string> {
  return stored(`names.${jobId}`) ?? {}
}

export function storeName(jobId: string, { before, after }: { before: string; after: string }): void {
  store(`names.${jobId}`, { ...storedNames(jobId), [before]: after })
}

/** Removes a stored name, unless a newer name has replaced this stored name. */
export function forgetName(jobId: string, { before, after }: { before: string; after: string }): void {
  const { [before]: newest, ...others } = storedNames(jobId)
  if (newest !== after) return
  if (Object.keys(others).length === 0) forget(`names.${jobId}`)
  else store(`names.${jobId}`, others)
}

function nameOf(jobId: string): string {
  return `edits.${jobId}`
}
