import { whyUnknown } from '../engine/models/model-name.ts'
import { UsageError } from './failure.ts'

/** Throws a UsageError if the flag --model was given, and names neither a known model nor a folder. */
export function checkModelFlag(model: string | undefined): void {
  const unknown = model ? whyUnknown(model) : null
  if (unknown !== null) throw new UsageError(`--model ${unknown}`)
}
