// The pools of workers. All workers of a pool have the same abilities: speech model, languages, translation and
// diarization.

import { sha256 } from '../base/hash.ts'
import type { Needs } from '../engine/request.ts'
import { listedCode } from '../languages.ts'
import type { Hello } from './requests.ts'
import { tokenOf } from './subjects.ts'

/** A pool of workers. `slots` is the number of jobs that its workers can do at the same time. */
export type Pool = { name: string; slots: number; abilities: Abilities }

/** The abilities of an engine. `diarization` is `ready`, or the reason why the engine cannot tell speakers apart. */
export type Abilities = { languages: readonly string[]; translates: boolean; diarization: string }

export function canDo(abilities: Abilities, { language, diarize, translate = false }: Needs): boolean {
  return (
    (language === null || abilities.languages.includes(listedCode(language))) &&
    (!diarize || abilities.diarization === 'ready') &&
    (!translate || abilities.translates)
  )
}

/**
 * Returns the name of a worker's pool. Workers with the same abilities get the same pool name. This name begins with
 * the model and is short enough for a NATS subject.
 */
export function poolOf({ model, languages, translates, diarization }: Hello): string {
  const abilities = JSON.stringify([model, [...languages].sort(), translates, diarization === 'ready'])
  return `${tokenOf(model).slice(0, 40)}-${sha256(abilities).slice(0, 8)}`
}

/**
 * Returns how many more jobs a pool can take. `taken` maps the name of a pool to the number of its queued and running
 * jobs.
 */
export function freeOf({ name, slots }: Pool, taken: Map<string, number>): number {
  return Math.max(0, slots - (taken.get(name) ?? 0))
}
