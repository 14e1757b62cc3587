// Token ids to text: the half of byte-level BPE that recognition needs. Text is never encoded to tokens here, since
// prompts consist of special tokens whose ids are looked up; so no tokenizer library is needed.

import { writtenWithoutSpaces } from '../../languages.ts'

export type Tokenizer = {
  /** Text of ordinary tokens; special tokens and time tokens have none. */
  decode(ids: readonly number[]): string
  /** Id of a special token by its name, such as `<|transcribe|>`; null when the model has none. */
  special(name: string): number | null
  /** The words of the text, each with its tokens. All tokens occur, in order. */
  words(ids: readonly number[], language: string): { text: string; ids: number[] }[]
}

export function readTokenizer(json: string): Tokenizer {
  const file = JSON.parse(json) as {
    model: { vocab: Record<string, number> }
    added_tokens: { id: number; content: string }[]
  }
  const specials = new Map(file.added_tokens.map(({ content, id }) => [content, id]))
  const specialIds = new Set(specials.values())
  const bytes: Uint8Array[] = []
  const byteOf = bytesByCharacter()
  for (const [characters, id] of Object.entries(file.model.vocab)) {
    if (!specialIds.has(id))
      bytes[id] = Uint8Array.from(characters, character => byteOf.get(character) ?? questionMark)
  }
  const decode = (ids: readonly number[]) => decodeBytes(ids.map(id => bytes[id]))
  return {
    decode,
    special: name => specials.get(name) ?? null,
    words: (ids, language) => {
      const characters = splitCharacters(ids, decode)
      return writtenWithoutSpaces(language) ? characters : joinAtSpaces(characters)
    },
  }
}

function decodeBytes(parts: readonly (Uint8Array | undefined)[]): string {
  return Buffer.concat(parts.filter(bytes => bytes !== undefined)).toString('utf8')
}

/** Runs of tokens that decode to whole characters. One character may span several tokens, at most 8 here. */
function splitCharacters(ids: readonly number[], decode: (ids: readonly number[]) => string) {
  const characters: { text: string; ids: number[] }[] = []
  let run: number[] = []
  for (const [index, id] of ids.entries()) {
    run.push(id)
    const text = decode(run)
    if (text.includes('\ufffd') && index < ids.length - 1 && run.length < 8) continue
    characters.push({ text, ids: run })
    run = []
  }
  return characters
}

/** Joins characters to words at spaces. Punctuation is a word of its own, which alignment merges later. */
function joinAtSpaces(characters: readonly { text: string; ids: number[] }[]) {
  const words: { text: string; ids: number[] }[] = []
  for (const { text, ids } of characters) {
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

const questionMark = 63

/** GPT-2's alphabet: a printable byte is its own character, and the other 68 have characters from 256 on. */
function bytesByCharacter(): Map<string, number> {
  const alphabet = new Map<string, number>()
  let next = 256
  for (let byte = 0; byte < 256; byte++) {
    const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174
    alphabet.set(String.fromCharCode(printable ? byte : next++), byte)
  }
  return alphabet
}
