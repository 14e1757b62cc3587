// Converts text to token ids, and token ids to text or words. Uses the tokenizer library of Hugging Face.

import { Tokenizer as Library } from '@huggingface/tokenizers'
import { needsWordBreaking, writtenWithoutSpaces } from '../../languages.ts'
import { joinAtBreaks, joinAtSpaces, splitCharacters } from './token-words.ts'

export type Tokenizer = {
  /**
   * Returns the token ids of a text. The name of a special token, such as `<|endoftext|>`, is encoded like other text.
   */
  encode(text: string): number[]
  /** Returns the text of a list of tokens. Special tokens and timestamp tokens add no text. */
  decode(ids: readonly number[]): string
  /** Returns the id of the special token with this name, such as `<|transcribe|>`, or null if there is none. */
  special(name: string): number | null
  /**
   * Divides the tokens of a text into words. Every token belongs to exactly one word, and the order of the tokens does
   * not change.
   */
  words(ids: readonly number[], language: string): { text: string; ids: number[] }[]
}

/** Makes a tokenizer. `json` is the content of the model's file tokenizer.json. */
export function readTokenizer(json: string): Tokenizer {
  // By default, the library removes spaces before punctuation marks when it decodes tokens. Here, these spaces must
  // stay in the text.
  const library = new Library(JSON.parse(json), { clean_up_tokenization_spaces: false })
  const added = library.get_added_tokens_decoder()
  const specials = new Map(Array.from(added, ([id, { content }]) => [content, id]))
  const hasText = (id: number) => !added.has(id) && library.id_to_token(id) !== undefined
  const decode = (ids: readonly number[]) => {
    const textIds = ids.filter(hasText)
    return textIds.length === 0 ? '' : library.decode(textIds)
  }
  return {
    encode: text =>
      // Cuts the text at each place where `<` is followed by `|`, and encodes the parts. No part then contains the
      // whole name of a special token, so the library encodes the name as plain text.
      text.split(/(?<=<)(?=\|)/).flatMap(part => library.encode(part, { add_special_tokens: false }).ids),
    decode,
    special: name => specials.get(name) ?? null,
    words: (ids, language) => {
      const characters = splitCharacters(ids, decode)
      if (needsWordBreaking(language)) return joinAtBreaks(characters, language)
      return writtenWithoutSpaces(language) ? characters : joinAtSpaces(characters)
    },
  }
}
