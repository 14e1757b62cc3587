// Token ids to text: the half of byte-level BPE that recognition needs. Text is never made into tokens here
// (prompts are special tokens, whose ids are looked up), so a tokenizer library would be carried for nothing.

import { writtenWithoutSpaces } from '../../languages.ts'

export type Tokenizer = {
  /** Text of ordinary tokens; special tokens and timestamps say nothing. */
  decode(ids: readonly number[]): string
  /** Ids of a special token by its words, `<|transcribe|>`; null when the model has none. */
  special(words: string): number | null
  /** Consecutive runs of tokens that make a word, in order; together they are all the tokens. */
  words(ids: readonly number[], language: string): { text: string; ids: number[] }[]
}

export function readTokenizer(json: string): Tokenizer {
  const file = JSON.parse(json) as {
    model: { vocab: Record<string, number> }
    added_tokens: { id: number; content: string }[]
  }
  const specials = new Map(file.added_tokens.map(each => [each.content, each.id]))
  const special = new Set(specials.values())
  const bytes: Uint8Array[] = []
  const byteOf = bytesByCharacter()
  for (const [characters, id] of Object.entries(file.model.vocab)) {
    if (!special.has(id)) bytes[id] = Uint8Array.from(characters, each => byteOf.get(each) ?? 63)
  }
  const decode = (ids: readonly number[]) => decodeBytes(ids.map(id => bytes[id]))
  return {
    decode,
    special: words => specials.get(words) ?? null,
    words: (ids, language) => {
      const characters = splitCharacters(ids, decode)
      return writtenWithoutSpaces(language) ? characters : joinAtSpaces(characters)
    },
  }
}

function decodeBytes(parts: readonly (Uint8Array | undefined)[]): string {
  return Buffer.concat(parts.filter(each => each !== undefined)).toString('utf8')
}

/** Runs of tokens that decode to whole characters: one character may be spread over several tokens. */
function splitCharacters(ids: readonly number[], decode: (ids: readonly number[]) => string) {
  const pieces: { text: string; ids: number[] }[] = []
  let run: number[] = []
  for (const [index, id] of ids.entries()) {
    run.push(id)
    const text = decode(run)
    if (text.includes('\ufffd') && index < ids.length - 1 && run.length < 8) continue
    pieces.push({ text, ids: run })
    run = []
  }
  return pieces
}

/** A piece that begins with a space begins a word; so does punctuation on its own (alignment merges it again). */
function joinAtSpaces(pieces: readonly { text: string; ids: number[] }[]) {
  const words: { text: string; ids: number[] }[] = []
  for (const { text, ids } of pieces) {
    const last = words.at(-1)
    if (last && !text.startsWith(' ') && !/^\p{P}+$/u.test(text)) {
      last.text += text
      last.ids.push(...ids)
    } else {
      words.push({ text, ids: [...ids] })
    }
  }
  return words
}

/** GPT-2's alphabet: printable bytes stand for themselves, the other 68 for characters from 256 on. */
function bytesByCharacter(): Map<string, number> {
  const alphabet = new Map<string, number>()
  let next = 256
  for (let byte = 0; byte < 256; byte++) {
    const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174
    alphabet.set(String.fromCharCode(printable ? byte : next++), byte)
  }
  return alphabet
}
