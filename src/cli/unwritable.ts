import { reasonOf } from '../base/reason.ts'
import { causeOf } from './transcribe/output-file.ts'

/**
 * Returns an error that names a folder and the setting that names another one, if `error` says why a file in this
 * folder cannot be written. Otherwise returns `error`.
 */
export function unwritable(
  error: unknown,
  { folder, setting }: { folder: string; setting: string },
): unknown {
  const cause = causeOf(error)
  if (cause === reasonOf(error)) return error
  return new Error(`${folder} cannot be written: ${cause}; ${setting} names another`, { cause: error })
}

/** Calls `unwritable` for the folder of models `dir`. */
export function unwritableModels(error: unknown, dir: string): unknown {
  return unwritable(error, { folder: `the folder of models ${dir}`, setting: 'STENO_MODELS_DIR' })
}
