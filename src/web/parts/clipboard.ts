// Copies texts to the clipboard of the person.

import { words } from '../words.ts'
import { tell, tellFault } from './toast.tsx'

export function copy(value: string, message: string): void {
  // `navigator.clipboard` is missing on a page that has neither https nor the host localhost. The browser may also
  // refuse to copy.
  const copied = navigator.clipboard?.writeText(value) ?? Promise.reject()
  copied.then(
    () => tell(message),
    () => tellFault(words.transcript.noClipboard),
  )
}
