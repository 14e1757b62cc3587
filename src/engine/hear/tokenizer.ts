// Text to token ids and back, through the library of the tokenizer files' own authors, and tokens to words.

import { Tokenizer as Library } from '@huggingface/tokenizers'
import { writtenWithoutSpaces } from '../../languages.ts'

export type Tokenizer = {
  /** The ids of a text, without special tokens around it. */
  encode(text: string): number[]
  /** Text of ordinary tokens; special tokens and time tokens have none. */
  decode(ids: readonly number[]): string
  /** Id of a special token by its name, such as `<|transcribe|>`; null when the model has none. */
  special(name: string): number | null
  /** The words of the text, each with its tokens. All tokens occur, in order. */
  words(ids: readonly number[], language: string): { text: string; ids: number[] }[]
}

/** `json` is the tokenizer.json of a model. */
export function readTokenizer(json: string): Tokenizer {
  // The library would remove spaces before punctuation, which are part of the text.
  const library = new Library(JSON.parse(json), { clean_up_tokenization_spaces: false })
  const added = library.get_added_tokens_decoder()
  const specials = new Map(Array.from(added, ([id, { content }]) => [content, id]))
  const hasText = (id: number) => !added.has(id) && library.id_to_token(id) !== undefined
  const decode = (ids: readonly number[]) => {
    const textIds = ids.filter(hasText)
    return textIds.length === 0 ? '' : library.decode(textIds)
  }
  return {
    encode: text => library.encode(text, { add_special_tokens: false }).ids,
    decode,
    special: name => specials.get(name) ?? null,
    words: (ids, language) => {
      const characters = splitCharacters(ids, decode)
      return writtenWithoutSpaces(language) ? characters : joinAtSpaces(characters)
    },
  }
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
