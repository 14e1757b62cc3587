// Stores the unsaved edits in the browser's storage, so that a reload or a crash does not lose these edits.

import { forget, store, stored } from '../base/storage.ts'

/** An unsaved edit of an utterance: its present text, and its text on the server. */
export type Draft = { utterance: number; text: string; was: string }

export function storedDrafts(jobId: string): Draft[] {
  const kept = stored<Record<string, { text: string; was: string }>>(nameOf(jobId)) ?? {}
  return Object.entries(kept).map(([utterance, draft]) => ({ utterance: Number(utterance), ...draft }))
}

/** Stores the unsaved edits of a transcript. If there are none, deletes the stored edits. */
export function storeDrafts(jobId: string, drafts: readonly Draft[]): void {
  if (drafts.length === 0) forget(nameOf(jobId))
  else store(nameOf(jobId), Object.fromEntries(drafts.map(({ utterance, ...draft }) => [utterance, draft])))
}

function nameOf(jobId: string): string {
  return `edits.${jobId}`
}
