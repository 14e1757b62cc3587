// Says why a file or a folder cannot be written.

import { firstErrorOf, reasonOf } from '../base/reason.ts'

const causes: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EACCES: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'a file has this name',
  ENAMETOOLONG: 'the name is too long',
}

/** Returns the cause of an error of the file system in plain words, or the message of another error. */
export function causeOf(error: unknown): string {
  return causes[Object(firstErrorOf(error)).code ?? ''] ?? reasonOf(error)
}

/**
 * Calls `step`, a step of writing to `target`, and returns its result. If it fails, the error names `target` and says
 * why it cannot be written.
 */
export function writing<Result>(target: string, step: () => Result): Result {
  try {
    return step()
  } catch (error) {
    throw new Error(`${target} cannot be written: ${causeOf(error)}`, { cause: error })
  }
}

/**
 * If `error` says why a file cannot be written, returns an error that names the folder of the file and the setting that
 * chooses another folder. Otherwise returns `error`.
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
