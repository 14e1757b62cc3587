// Renames the speakers of a stored transcript.

import type { Db } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import type { Transcript } from './transcript.ts'
import { type IndexedJob, rowsOf } from './utterance-id.ts'

export type Edits = {
  utterances: readonly { index: number; text: string }[]
  /**
   * The new names of speakers. Each key is a present name, or the engine's label of a speaker. A present name as the
   * key renames all speakers with this name, and any other key renames one speaker.
   */
  speakers: Readonly<Record<string, string>>
}

export type Head = Omit<Transcript, 'utterances'>

export type Names = Record<string, string>

/**
 * Renames speakers in the stored utterances, in `head` (the transcript without its utterances) and in `names`. `names`
 * maps the engine's label of a speaker to the present name. Two speakers may have the same name afterwards.
 */
export function renameSpeakers(
  db: Db,
  job: IndexedJob,
  head: Head,
  names: Names,
  speakers: Edits['speakers'],
): void {
  const shown = head.speakers ?? []
  const renames = new Map<string, string>()
  /**
   * The new names of speakers who share their present name with another speaker. Each key is the engine's label,
   * because only the label identifies one speaker.
   */
  const single = new Map<string, string>()
  for (const [label, name] of Object.entries(speakers)) {
    const current = shown.includes(label) ? label : Object.hasOwn(names, label) ? names[label] : undefined
    if (current === undefined) {
      const known = shown.length > 0 ? `its speakers are ${shown.join(', ')}` : 'it has no speakers'
      throw invalid(`speakers names a speaker that the transcription does not have: ${known}.`)
    }
    if (current !== label && isShared(names, current)) single.set(label, name)
    else renames.set(current, name)
  }
  if (renames.size + single.size === 0) return
  for (const label of shown) if (!Object.values(names).includes(label)) names[label] = label
  renameInUtterances(db, job, [...renames])
  for (const [label, name] of Object.entries(names)) names[label] = renames.get(name) ?? name
  for (const [label, name] of single) {
    renameOne(db, job, { label, from: names[label] ?? label, to: name })
    names[label] = name
  }
  const renamed = shown.map(name => renames.get(name) ?? name)
  head.speakers = [...new Set(single.size > 0 ? Object.values(names) : renamed)]
}

/** Returns true if several speakers have the name `current`. */
function isShared(names: Names, current: string): boolean {
  return Object.values(names).filter(name => name === current).length > 1
}

/**
 * Renames one of several speakers who have the same name `from`. `label` is the engine's label of this speaker. An
 * utterance belongs to this speaker if its original JSON contains the label.
 */
function renameOne(
  db: Db,
  job: IndexedJob,
  { label, from, to }: { label: string; from: string; to: string },
): void {
  const [engineLabel = '', before = '', after = ''] = [label, from, to].map(
    name => `"speaker":${JSON.stringify(name)}`,
  )
  db.run(
    `update utterances set original = coalesce(original, body), body = replace(body, $before, $after)
     where id between $first and $last and instr(coalesce(original, body), $engineLabel) > 0`,
    { engineLabel, before, after, ...rowsOf(job) },
  )
}

/**
 * Renames speakers in the JSON of the utterances. Each old name becomes a mark, and then each mark becomes the new
 * name, so two speakers can exchange names. A mark contains a control character. JSON always escapes such characters,
 * so no text of the JSON is mistaken for a mark.
 */
function renameInUtterances(db: Db, job: IndexedJob, renames: readonly [string, string][]): void {
  if (renames.length === 0) return
  const params: Record<string, string> = {}
  let [toMarks, toNames] = ['body', '']
  for (const [at, [from, to]] of renames.entries()) {
    params[`from${at}`] = `"speaker":${JSON.stringify(from)}`
    params[`mark${at}`] = `\u0001${at}\u0001`
    params[`to${at}`] = `"speaker":${JSON.stringify(to)}`
    toMarks = `replace(${toMarks}, $from${at}, $mark${at})`
  }
  toNames = toMarks
  for (const at of renames.keys()) toNames = `replace(${toNames}, $mark${at}, $to${at})`
  const touched = [...renames.keys()].map(at => `instr(body, $from${at}) > 0`).join(' or ')
  db.run(
    `update utterances set original = coalesce(original, body), body = ${toNames}
     where id between $first and $last and (${touched})`,
    { ...params, ...rowsOf(job) },
  )
}

export function invalid(message: string): ApiError {
  return new ApiError('INVALID_REQUEST', message)
}
