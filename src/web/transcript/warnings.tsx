// The warnings of the engine about a transcript.

import { details } from '../account/session.ts'
import type { Result } from './document.ts'

/**
 * Matches a warning that contains a `steno` command. Only operators can run such a command, so only they see this
 * warning.
 */
const commandOfOperator = /\brun steno /

export function Warnings({ result }: { result: Result }) {
  const shown = (result.warnings ?? []).filter(
    warning => details.value?.operator || !commandOfOperator.test(warning),
  )
  if (shown.length === 0) return null
  return (
    <ul class="warnings">
      {shown.map(warning => (
        <li key={warning}>{warning}</li>
      ))}
    </ul>
  )
}
