// Shared values of the engine tests: ONNX Runtime, the pocket model (a small speech model for tests), its voice models,
// and short recordings.

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

/** Returns the first existing path, or null. The paths are relative to the project. */
export function firstOf(...paths: string[]): string | null {
  return paths.map(path => fileURLToPath(new URL(path, project))).find(existsSync) ?? null
}

export const pocket = firstOf('models/pocket/whisper-pocket')
const segmentation = firstOf('models/pocket/pyannote-segmentation-pocket')
const embedding = firstOf('models/pocket/wespeaker-pocket')
/**
 * The files of the pocket voice models (small models for tests). Null if one of them or the pocket speech model is
 * missing.
 */
export const voices: VoiceFiles | null =
  segmentation && embedding && pocket ? (voicesFor('pocket', '') as VoiceFiles) : null
export const clips = firstOf('test/fixtures/speech')

/**
 * Returns the end of a test title. If `found` is null, the text says that the test is skipped because `name` is
 * missing. Otherwise the text is empty.
 */
export function unless(found: string | null, name: string): string {
  return found ? '' : ` (SKIPPED: no ${name} here)`
}
