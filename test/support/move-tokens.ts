// Moves the special tokens of a Whisper model to other ids. Whisper's models differ in these ids.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Adds `by` to all token ids from `movedFrom` on. */
export type Move = { movedFrom: number; by: number }

/**
 * Moves the tokens of the model in `folder`. If `by` is positive, the tokenizer gets one more language token, as in
 * Whisper large-v3. If `by` is negative, the model becomes English-only, and the moved tokens replace the tokens that
 * had these ids.
 */
export function moveTokens(folder: string, { movedFrom, by }: Move): void {
  const moved = (id: number) => (id >= movedFrom ? id + by : id)
  const isKept = (id: number) => id >= movedFrom || id < movedFrom + by
  const edit = (name: string, change: (content: Record<string, unknown>) => void) => {
    const path = join(folder, name)
    const content = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
    change(content)
    writeFileSync(path, JSON.stringify(content))
  }
  edit('tokenizer.json', content => {
    const added = content.added_tokens as { id: number; content: string }[]
    for (const token of added) token.id = moved(token.id)
    if (by > 0) added.push({ ...added[0], id: movedFrom, content: '<|yue|>' })
  })
  for (const name of ['config.json', 'generation_config.json']) {
    edit(name, content => {
      for (const [key, value] of Object.entries(content)) {
        if (key.endsWith('_token_id') && typeof value === 'number') content[key] = moved(value)
      }
      for (const key of ['suppress_tokens', 'begin_suppress_tokens'])
        content[key] = (content[key] as number[]).filter(isKept).map(moved)
      if (by < 0) content.is_multilingual = false
    })
  }
}
