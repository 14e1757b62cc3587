// The dialog that shows the full text of a new API key. No other page shows this text again.

import { copy } from '../parts/clipboard.ts'
import { Dialog } from '../parts/dialog.tsx'
import { ScrollBox } from '../parts/scroll.tsx'
import { words } from '../words.ts'

const text = words.keys

export function MadeKey({ secret, onClose }: { secret: string; onClose: () => void }) {
  const example = `curl ${location.origin}/v1/balance \\\n  -H 'Authorization: Bearer ${secret}'`
  return (
    <Dialog title={text.madeTitle} onClose={onClose} wide>
      <p>{text.made}</p>
      <p class="secret">
        <code>{secret}</code>
        <button type="button" class="main" onClick={() => copy(secret, text.copied)}>
          {words.selection.copy}
        </button>
      </p>
      <div class="line">
        <h3>{text.example}</h3>
        <button type="button" onClick={() => copy(example, text.exampleCopied)}>
          {words.selection.copy}
        </button>
      </div>
      <ScrollBox label={text.example}>{example}</ScrollBox>
    </Dialog>
  )
}
