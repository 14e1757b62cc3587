// Exports a transcript as subtitles or text, with the options of the query.

import type { Static } from '@sinclair/typebox'
import { runWithBreaks, type Steps } from '../../base/steps.ts'
import type { Db } from '../../db/db.ts'
import { ApiError } from '../../errors.ts'
import type { Job } from '../../jobs/job.ts'
import { limits } from '../../limits.ts'
import type { ExportOptions } from '../../transcripts/export-options.ts'
import { type ExportFormat, exporters } from '../../transcripts/exporters.ts'
import { findTranscriptInSteps } from '../../transcripts/find-transcript.ts'
import type { exportQuery } from '../shapes/exports.ts'
import type { Written } from './large-answers.ts'

type Parameter = Exclude<keyof Static<typeof exportQuery>, 'format' | 'version' | 'wait'>

const cueParameters: Parameter[] = ['max_words', 'max_chars', 'max_duration', 'sentence_aware']
const textParameters: Parameter[] = ['include_speakers', 'strip_chars']

const parameters: Record<'json' | ExportFormat, Parameter[]> = {
  json: [],
  srt: [...cueParameters, ...textParameters],
  vtt: [...cueParameters, ...textParameters],
  text: [...textParameters, 'include_timestamps'],
}

/** Removes the export parameters that the requested format does not use. They are then not validated. */
export function dropUnused(query: Record<string, unknown>): void {
  const format = query.format ?? 'json'
  const used = Object.entries(parameters).find(([name]) => name === format)?.[1]
  if (!used) return
  for (const name of Object.values(parameters).flat()) if (!used.includes(name)) delete query[name]
}

/** Returns the export options of a query, with defaults for missing parameters. */
export function exportOptions(query: Omit<Static<typeof exportQuery>, 'format'>): ExportOptions {
  const stripChars = query.strip_chars ?? ''
  if ([...stripChars].length > limits.stripCharsMax) {
    throw new ApiError('INVALID_REQUEST', `strip_chars has more than ${limits.stripCharsMax} characters.`)
  }
  return {
    maxWords: query.max_words ?? limits.cueWords.default,
    maxChars: query.max_chars ?? limits.cueChars.default,
    maxDurationMs: (query.max_duration ?? limits.cueSeconds.default) * 1000,
    sentenceAware: query.sentence_aware ?? true,
    includeSpeakers: query.include_speakers ?? 'auto',
    stripChars,
    includeTimestamps: query.include_timestamps ?? false,
  }
}

/**
 * Returns the exported transcript and its headers. Rejects with an ApiError when the job has no transcript. Takes breaks
 * in which the server handles other events, because the export of a long transcript takes 0.1 s or more.
 */
export function exportJob(db: Db, job: Job, query: Static<typeof exportQuery>): Promise<Written> {
  return runWithBreaks(exportInSteps(db, job, query))
}

function* exportInSteps(
  db: Db,
  { id, status, errorCode }: Job,
  query: Static<typeof exportQuery>,
): Steps<Written> {
  const options = exportOptions(query)
  const transcript = yield* findTranscriptInSteps(db, id, query.version)
  if (!transcript)
    throw new ApiError(
      'INVALID_REQUEST',
      `format ${query.format} needs a completed transcription; this one is ${status}${errorCode ? ` (${errorCode})` : ''}.`,
    )
  const { type, writeInSteps } = exporters[query.format]
  return { body: yield* writeInSteps(transcript, options), headers: { 'Content-Type': type } }
}
