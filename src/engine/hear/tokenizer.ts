// Converts text to token ids, and token ids to text or words, with the tokenizer library of Hugging Face.

import { ByteLevelDecoder, Tokenizer as Encoder } from '@huggingface/tokenizers'
import { needsWordBreaking, writtenWithoutSpaces } from '../../languages.ts'
import { joinAtBreaks, joinAtSpaces, joinLatin, splitCharacters } from './token-words.ts'

export type Tokenizer = {
  /** Returns the token ids of a text. The name of a special token, such as `<|endoftext|>`, counts as normal text. */
  encode(text: string): number[]
  /** Returns the text of a list of tokens. Special tokens and timestamp tokens add no text. */
  decode(ids: readonly number[]): string
  /** Returns the id of the special token with this name, such as `<|transcribe|>`, or null. */
  special(name: string): number | null
  /** Divides the tokens of a text into words. Each token belongs to one word, and the tokens keep their order. */
  words(ids: readonly number[], language: string): { text: string; ids: number[] }[]
}

/** The part of a tokenizer.json file that decoding needs. */
type TokenizerFile = {
  added_tokens: { id: number; content: string }[]
  model: { vocab: Record<string, number> }
}

/** Makes a tokenizer. `json` is the content of the model's file tokenizer.json. */
export function readTokenizer(json: string): Tokenizer {
  const file: TokenizerFile = JSON.parse(json)
  if (Array.isArray(file.model.vocab)) throw new Error('its vocabulary is a list without ids')
  const specials = new Map(file.added_tokens.map(({ id, content }) => [content, id]))
  const decode = decoderOf(file)
  let encoder: Encoder | null = null
  return {
    encode: text => {
      // The encoder is made at its first use, because most jobs encode no text. It takes 60 ms of CPU time, as much as
      // all other parts of the tokenizer together.
      encoder ??= new Encoder(file, {})
      return encodeWith(encoder, text)
    },
    decode,
    special: name => specials.get(name) ?? null,
    words: (ids, language) => {
      const characters = splitCharacters(ids, decode)
      if (needsWordBreaking(language)) return joinAtBreaks(characters, language)
      return writtenWithoutSpaces(language) ? joinLatin(characters) : joinAtSpaces(characters)
    },
  }
}

/**
 * Encodes a text. Cuts the text between each `<` and `|`, so that no part contains the whole name of a special token.
 * The library then encodes the name as plain text.
 */
function encodeWith(encoder: Encoder, text: string): number[] {
  return text.split(/(?<=<)(?=\|)/).flatMap(part => encoder.encode(part, { add_special_tokens: false }).ids)
}

/**
 * Returns the function that decodes tokens. In the byte-level vocabulary of Whisper, each character of a token stands
 * for one byte of UTF-8 text.
 */
function decoderOf({ added_tokens, model: { vocab } }: TokenizerFile): Tokenizer['decode'] {
  const decoder = new ByteLevelDecoder({ type: 'ByteLevel' })
  const names = Object.keys(vocab)
  const texts: (string | undefined)[] = []
  for (const [index, id] of Object.values(vocab).entries()) texts[id] = names[index]
  for (const { id } of added_tokens) texts[id] = undefined
  return ids => decoder.convert_tokens_to_string(ids.flatMap(id => texts[id] ?? []))
}
