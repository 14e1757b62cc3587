// Moves the special tokens of a Whisper model to other ids. Whisper's models differ in these ids.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A change that gives a model the token ids of another Whisper model: adds `by` to each id from `movedFrom` on. */
export type Move = { movedFrom: number; by: number }

/**
 * The tokenizer files (as JSON) in which token ids were already changed, so that equal changes are made only once. The
 * key is made of the hash of the original file, `movedFrom` and `by`.
 */
const tokenizers = new Map<string, string>()

/**
 * Moves the tokens of the model in `folder`: adds `by` to each id from `movedFrom` on. If `by` is positive, the id
 * `movedFrom` becomes free, and the tokenizer gets one more language token there, as in Whisper large-v3. If `by` is
 * negative, the moved tokens replace the tokens that had the ids just below `movedFrom`. Only English-only models of
 * Whisper have such lower ids, so the model is marked as English-only. The merges (the rules that join characters to
 * tokens) are removed from the tokenizer. They are needed only to encode a text, and reading the tokenizer without them
 * takes half the time.
 */
export function moveTokens(folder: string, move: Move): void {
  const { movedFrom, by } = move
  const moved = (id: number) => (id >= movedFrom ? id + by : id)
  const isKept = (id: number) => id >= movedFrom || id < movedFrom + by
  const path = join(folder, 'tokenizer.json')
  const tokenizer = readFileSync(path, 'utf8')
  const key = `${Bun.hash(tokenizer)} ${movedFrom} ${by}`
  const made = tokenizers.get(key) ?? movedTokenizer(tokenizer, move)
  tokenizers.set(key, made)
  writeFileSync(path, made)
  for (const name of ['config.json', 'generation_config.json']) {
    const content = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Record<string, unknown>
    for (const [key, value] of Object.entries(content)) {
      if (key.endsWith('_token_id') && typeof value === 'number') content[key] = moved(value)
    }
    for (const key of ['suppress_tokens', 'begin_suppress_tokens'])
      content[key] = (content[key] as number[]).filter(isKept).map(moved)
    if (by < 0) content.is_multilingual = false
    writeFileSync(join(folder, name), JSON.stringify(content))
  }
}

type TokenizerFile = { added_tokens: { id: number; content: string }[]; model: { merges: unknown[] } }

function movedTokenizer(json: string, { movedFrom, by }: Move): string {
  const content: TokenizerFile = JSON.parse(json)
  const added = content.added_tokens
  for (const token of added) if (token.id >= movedFrom) token.id += by
  if (by > 0) added.push({ ...added[0], id: movedFrom, content: '<|yue|>' })
  content.model.merges = []
  return JSON.stringify(content)
}
