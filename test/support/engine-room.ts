// Shared values of the engine tests: one instance of ONNX Runtime, the paths of the pocket model (a small speech model
// for tests) and of its voice models, and the path of the folder with short recordings of speech.

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type VoiceFiles, voicesFor } from '../../src/engine/models/voices.ts'
import { runtimeLibrary } from '../../src/engine/onnx/library.ts'
import { openRuntime, type Runtime } from '../../src/engine/onnx/runtime.ts'

const project = new URL('../../', import.meta.url)

let opened: Runtime | null = null

export function runtime(): Runtime {
  opened ??= openRuntime(runtimeLibrary(), 2)
  return opened
}

/**
 * Returns the first of the given paths that exists, or null if none of them exists. The paths are relative to the
 * project.
 */
export function firstOf(...paths: string[]): string | null {
  return paths.map(path => fileURLToPath(new URL(path, project))).find(existsSync) ?? null
}

export const pocket = firstOf('models/pocket/whisper-pocket')
const segmentation = firstOf('models/pocket/pyannote-segmentation-pocket')
const embedding = firstOf('models/pocket/wespeaker-pocket')
/**
 * The files of the pocket voice models. Null if these models or the pocket model are not in this checkout of the
 * project.
 */
export const voices: VoiceFiles | null =
  segmentation && embedding && pocket ? (voicesFor('pocket', '') as VoiceFiles) : null
export const clips = firstOf('test/fixtures/speech')

/**
 * Returns a suffix for the title of a test that needs a file or a program. `found` is null if this file or program is
 * missing: the caller then skips the test, and the suffix says that `name` is missing. Otherwise, the suffix is empty.
 */
export function unless(found: string | null, name: string): string {
  return found ? '' : ` (SKIPPED: no ${name} here)`
}
