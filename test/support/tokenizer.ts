// Small tokenizers for tests.

import { readTokenizer, type Tokenizer } from '../../src/engine/hear/tokenizer.ts'

/** Returns a tokenizer with the vocabulary `texts`, without special tokens. The id of a token is its index. */
export function tokenizerOf(texts: readonly string[]): Tokenizer {
  return readTokenizer(
    JSON.stringify({
      added_tokens: [],
      normalizer: null,
      post_processor: null,
      pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, use_regex: true },
      decoder: { type: 'ByteLevel' },
      model: {
        type: 'BPE',
        vocab: Object.fromEntries(texts.map((text, id) => [inVocabulary(Buffer.from(text)), id])),
        merges: [],
      },
    }),
  )
}

/**
 * Returns the text for the given bytes in a byte-level BPE vocabulary. Such a vocabulary writes a byte that is not
 * printable as a character with a code from 256 on.
 */
export function inVocabulary(bytes: Uint8Array): string {
  const printable = (byte: number) =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174
  const others = Array.from({ length: 256 }, (_, byte) => byte).filter(byte => !printable(byte))
  return Array.from(bytes, byte =>
    String.fromCharCode(printable(byte) ? byte : 256 + others.indexOf(byte)),
  ).join('')
}
